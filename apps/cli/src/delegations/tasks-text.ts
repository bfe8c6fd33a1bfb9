import type { Tasks } from '@svc/api/agent/tasks'
import { counted } from '../output/quantities.ts'

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

/** As short as a table wants it: `watch, mirror 2, tell`. */
export function taskNames({ watch, mirror, tell }: Tasks): string {
  return [watch && 'watch', mirror && `mirror ${mirror.sources.length}`, tell && 'tell'].filter(Boolean).join(', ')
}
