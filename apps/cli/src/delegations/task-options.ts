import type { Mirror, Tasks } from '@svc/api/agent/tasks'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../failures.ts'

type Source = Mirror['sources'][number]

export interface TaskOptions {
  mirror?: Source[]
  every?: number
  watch: boolean
  tell?: string
}

/** Not cut at commas as other lists are: addresses may hold them. */
export function mirrorOption(): Option {
  const about = 'keep what an https address holds as this file, fetched again and again; may be repeated'
  return new Option('--mirror <url=filename>', about).argParser((text, before: Source[] | undefined) => [
    ...(before ?? []),
    sourceOf(text),
  ])
}

/** Addresses often hold equals signs, filenames hardly ever: the last one counts. */
function sourceOf(text: string): Source {
  const at = text.lastIndexOf('=')
  const [url, filename] = [text.slice(0, at), text.slice(at + 1)]
  if (at > 0 && filename !== '' && URL.canParse(url)) return { url, filename }
  throw new InvalidArgumentError('It must be an address, an equals sign and a filename.')
}

/** Undefined where nothing was said: what the service does by itself, or did before. */
export function tasksOf({ mirror, every, watch, tell }: TaskOptions): Tasks | undefined {
  if (!mirror && watch && every === undefined && tell === undefined) return undefined
  if (!mirror && !watch)
    throw new UsageError('that leaves nothing to do', 'leave out --no-watch, or give --mirror URL=FILENAME')
  const often = every === undefined ? {} : { every_hours: every }
  return {
    ...(mirror && { mirror: { sources: mirror, ...often } }),
    ...(watch && { watch: often }),
    ...(tell !== undefined && { tell: { url: tell } }),
  }
}
