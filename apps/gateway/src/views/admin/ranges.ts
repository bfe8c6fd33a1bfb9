import { ValidationError } from '@svc/service/service-error'

/** A range as queries name it. */
export interface TimeRange {
  from?: string
  to?: string
}

const DAY = 86_400

/** In Unix seconds. By default the range ends now and has `defaultDays` days. */
export function readRange(
  { from, to }: TimeRange,
  { now, defaultDays, maxDays }: { now: number; defaultDays: number; maxDays?: number },
): { from: number; to: number } {
  const end = to === undefined ? now + 1 : secondsOf(to, 'to')
  const start = from === undefined ? Math.max(0, end - defaultDays * DAY) : secondsOf(from, 'from')
  if (start >= end) throw new ValidationError({ loc: ['query', 'from'], msg: 'must be before the end of the range' })
  if (maxDays !== undefined && end - start > maxDays * DAY) {
    throw new ValidationError({ loc: ['query', 'from'], msg: `must be at most ${maxDays} days before the end` })
  }
  return { from: start, to: end }
}

function secondsOf(text: string, name: string): number {
  const seconds = Math.floor(Date.parse(text) / 1000)
  if (Number.isSafeInteger(seconds)) return seconds
  throw new ValidationError({ loc: ['query', name], msg: 'is not a time' })
}
