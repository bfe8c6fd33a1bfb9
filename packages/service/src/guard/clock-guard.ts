// A process whose clock is wrong would sell quotes that are over or last too long, and sweep away what is still good. All
// replicas share the clock of PostgreSQL, so that is what they are held to (T-88). SQLite has no clock of its own.

import type { Log } from '../program/log.ts'
import type { ServiceError } from '../service-error.ts'

export interface ClockGuard {
  /** `aheadMs`: of the database's clock; null where it is not known. */
  compared(aheadMs: number | null): void
  /** Of the database's clock; negative where this one is behind. Null before a comparison. */
  aheadSeconds(): number | null
  /** Then nothing may be sold or signed. */
  isWrong(): boolean
  assertRight(): void
}

export interface ClockGuardOptions {
  /** 0 where clocks are not compared. */
  toleranceSeconds: number
  log: Log
  /** What is thrown while the clock is wrong. */
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
        log.error({ ahead_seconds: ahead }, 'the clock differs from that of the database: nothing is sold or signed')
      if (wasWrong && !isWrong()) log.info('the clock agrees with that of the database again')
    },
    aheadSeconds: () => ahead,
    isWrong,
    assertRight() {
      if (ahead !== null && isWrong()) throw refusal(ahead)
    },
  }
}

/** For people. */
export function clockDifference(aheadSeconds: number): string {
  return `${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'ahead of' : 'behind'} that of its database`
}
