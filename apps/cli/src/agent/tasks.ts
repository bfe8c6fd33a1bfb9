import type { Mirror, Tasks } from '@svc/api/agent/tasks'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../errors.ts'
import { counted } from '../output/quantities.ts'

type Source = Mirror['sources'][number]

export interface TaskOptions {
  mirror?: Source[]
  every?: number
  watch: boolean
  tell?: string
}

/** Does not split at commas as other list options do: URLs may contain them. */
export function mirrorOption(): Option {
  const about = 'fetch an https address into this file at regular intervals; may be repeated'
  return new Option('--mirror <url=filename>', about).argParser((text, before: Source[] | undefined) => [
    ...(before ?? []),
    sourceOf(text),
  ])
}

/** Splits at the last equals sign: URLs often contain one, filenames rarely. */
function sourceOf(text: string): Source {
  const at = text.lastIndexOf('=')
  const [url, filename] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && filename !== '' && URL.canParse(url)) return { url, filename }
  throw new InvalidArgumentError('It must have the form URL=FILENAME.')
}

/** Undefined without task options: the service keeps the current tasks, or uses its default. */
export function tasksOf({ mirror, every, watch, tell }: TaskOptions): Tasks | undefined {
  if (!mirror && watch && every === undefined && tell === undefined) return undefined
  if (!mirror && !watch)
    throw new UsageError('this delegation has no task', 'leave out --no-watch, or give --mirror URL=FILENAME')
  const often = every === undefined ? {} : { every_hours: every }
  return {
    ...(mirror && { mirror: { sources: mirror, ...often } }),
    ...(watch && { watch: often }),
    ...(tell !== undefined && { tell: { url: tell } }),
  }
}

/** `watch every 24 h, mirror 2 files every 6 h, tell https://example.com/hook` */
export function tasksText({ watch, mirror, tell }: Tasks): string {
  return [
    watch && `watch${everyText(watch)}`,
    mirror && `mirror ${counted(mirror.sources.length, 'file')}${everyText(mirror)}`,
    tell && `tell ${tell.url}`,
  ]
    .filter(Boolean)
    .join(', ')
}

function everyText({ every_hours }: { every_hours?: number }): string {
  return every_hours === undefined ? '' : ` every ${every_hours} h`
}

/** Short, for a table: `watch, mirror 2, tell`. */
export function taskNames({ watch, mirror, tell }: Tasks): string {
  return [watch && 'watch', mirror && `mirror ${mirror.sources.length}`, tell && 'tell'].filter(Boolean).join(', ')
}
