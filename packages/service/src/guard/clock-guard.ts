// Stops sales while the clock of the process is wrong: quotes would be expired or last too long, and valid data would
// be deleted. All replicas share the clock of PostgreSQL, so that clock is the reference (T-88). SQLite has no clock of
// its own.

import type { Log } from '../program/log.ts'
import type { ServiceError } from '../service-error.ts'

export interface ClockGuard {
  /** `aheadMs` is the difference to the database's clock; null when it is unknown. */
  compared(aheadMs: number | null): void
  /** The difference to the database's clock; negative when this one is behind. Null before a comparison. */
  aheadSeconds(): number | null
  /** While this is true, nothing may be sold or signed. */
  isWrong(): boolean
  assertRight(): void
}

export interface ClockGuardOptions {
  /** 0 when clocks are not compared. */
  toleranceSeconds: number
  log: Log
  /** The error to throw while the clock is wrong. */
  refusal: (aheadSeconds: number) => ServiceError
}

export function createClockGuard({ toleranceSeconds, log, refusal }: ClockGuardOptions): ClockGuard {
  let ahead: number | null = null
  const isWrong = () => ahead !== null && toleranceSeconds > 0 && Math.abs(ahead) > toleranceSeconds

  return {
    compared(aheadMs) {
      if (aheadMs === null) return
      const wasWrong = isWrong()
      ahead = Math.round(aheadMs / 1000)
      if (isWrong() && !wasWrong)
        log.error(
          { ahead_seconds: ahead },
          'the clock differs from the clock of the database: nothing is sold or signed',
        )
      if (wasWrong && !isWrong()) log.info('the clock agrees with the clock of the database again')
    },
    aheadSeconds: () => ahead,
    isWrong,
    assertRight() {
      if (ahead !== null && isWrong()) throw refusal(ahead)
    },
  }
}

/** Text for people. */
export function clockDifference(aheadSeconds: number): string {
  return `${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} the clock of its database`
}
