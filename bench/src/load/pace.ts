// Sends requests at a given rate, even when the gateway does not keep up.

import { setTimeout } from 'node:timers/promises'
import type { Client } from '../mixed/client.ts'

export interface Pace {
  setRate(perSecond: number): void
  /** Resolves when the next request is due. */
  turn(): Promise<void>
  /** How late requests are, compared with their due time. */
  lateMs(): number
}

/** A longer delay is not caught up, because that would be a burst. */
const MOST_LATE_MS = 1_000

export function createPace(perSecond: number): Pace {
  let rate = perSecond
  let next = performance.now()
  return {
    setRate(perSecond) {
      rate = perSecond
      next = performance.now()
    },
    async turn() {
      const now = performance.now()
      next = Math.max(next + 1000 / rate, now - MOST_LATE_MS)
      if (next > now) await setTimeout(next - now)
    },
    lateMs: () => Math.max(0, performance.now() - next),
  }
}

/** Every request waits until it is due; the wait does not count towards its time. */
export function paced(client: Client, pace: Pace): Client {
  const afterTurn =
    <Values extends unknown[], Result>(ask: (...values: Values) => Promise<Result>) =>
    async (...values: Values) => {
      await pace.turn()
      return ask(...values)
    }
  return { send: afterTurn(client.send), read: afterTurn(client.read), sendSigned: afterTurn(client.sendSigned) }
}
