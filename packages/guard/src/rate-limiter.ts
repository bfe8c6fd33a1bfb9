// Limits that hold over all replicas together. A key has as much as its limit at once, and what it used comes back
// evenly over a minute; the one number kept for it is the time at which all has come back (GCRA).

import { hash } from 'node:crypto'
import { lru } from '@svc/concurrency/caches'
import { batch } from '@svc/concurrency/sharing'
import { ServiceError } from '@svc/http-service/service-error'
import type { Kysely } from 'kysely'
import { deletePastTats, lockTats, type RateTables, setTats } from './rate-store.ts'

interface Ask {
  /** What is limited and for whom; it may hold secrets. */
  key: string
  /** 0 is no limit. */
  perMinute: number
  /** 1 where it is not said. */
  cost?: number
}

export interface RateLimiter {
  /** Takes what all asks together need; throws RATE_LIMITED and takes nothing when one of them is over its limit. */
  take(...asks: Ask[]): Promise<void>
  /** Throws where it is known without asking that a take would be refused; takes nothing. */
  refuseExhausted(ask: Ask): void
  /** Forgets the keys that have their whole limit again. */
  forget(): Promise<void>
}

/** How many exhausted keys are refused without asking the database. */
const MAX_KNOWN = 10_000

export function createRateLimiter({ db, now }: { db: Kysely<RateTables>; now: () => number }): RateLimiter {
  // Times only grow, whoever takes, so that one seen earlier is enough to refuse by.
  const exhausted = lru<string, number>(MAX_KNOWN)
  const remember = ({ key, tat }: Refusal) => exhausted.set(key, tat)

  const takeTogether = batch(async (calls: Need[][]): Promise<(Refusal | null)[]> => {
    const refusals = await db.transaction().execute(async (tx) => {
      const tats = await lockTats(tx, new Set(calls.flat().map(({ key }) => key)))
      const time = now()
      const taken = new Map<string, number>()
      const refusals = calls.map((needs) => {
        const { after, refusal } = weigh(needs, (key) => taken.get(key) ?? tats.get(key), time)
        if (!refusal) for (const [key, tat] of after) taken.set(key, tat)
        return refusal
      })
      if (taken.size > 0) await setTats(tx, taken)
      return refusals
    })
    for (const refusal of refusals) if (refusal) remember(refusal)
    return refusals
  })

  return {
    async take(...asks) {
      const needs = asks.filter(({ perMinute }) => perMinute !== 0).map(needOf)
      if (needs.length === 0) return
      const known = weigh(needs, (key) => exhausted.get(key), now()).refusal
      if (known) remember(known)
      const refusal = known ?? (await takeTogether(needs))
      if (refusal) throw overLimit(refusal)
    },
    refuseExhausted(ask) {
      if (ask.perMinute === 0) return
      const { refusal } = weigh([needOf(ask)], (key) => exhausted.get(key), now())
      if (refusal) throw overLimit(refusal)
    },
    forget: () => deletePastTats(db, now()),
  }
}

/** An ask in time: the limit comes back in `windowMs`, and what is asked for is so much of it. */
interface Need {
  key: string
  perMinute: number
  costMs: number
  windowMs: number
}

function needOf({ key, perMinute, cost = 1 }: Ask): Need {
  if (!Number.isSafeInteger(perMinute) || perMinute < 0 || !Number.isSafeInteger(cost) || cost < 0) {
    throw new RangeError(`${cost} of ${perMinute} a minute is nothing that can be counted`)
  }
  if (cost > perMinute) throw neverFits(cost, perMinute)
  // Whole milliseconds, rounded up: where a minute does not divide evenly, what was used comes back a little later.
  const unitMs = Math.ceil(60_000 / perMinute)
  return { key: hash('sha256', key).slice(0, 32), perMinute, costMs: cost * unitMs, windowMs: perMinute * unitMs }
}

interface Refusal {
  key: string
  tat: number
  perMinute: number
  waitMs: number
}

/** What the keys' times become when all is taken, or the refusal that lasts longest. */
function weigh(
  needs: readonly Need[],
  tatOf: (key: string) => number | undefined,
  now: number,
): { after: Map<string, number>; refusal: Refusal | null } {
  const after = new Map<string, number>()
  let refusal: Refusal | null = null
  for (const { key, perMinute, costMs, windowMs } of needs) {
    const tat = startOf(tatOf(key) ?? 0, windowMs, now)
    const next = (after.get(key) ?? tat) + costMs
    const waitMs = next - windowMs - now
    if (waitMs > (refusal?.waitMs ?? 0)) refusal = { key, tat, perMinute, waitMs }
    after.set(key, next)
  }
  return { after, refusal }
}

/**
 * A time further ahead than the clocks of two replicas may differ was written before the clock was set back: to wait
 * for it would shut everybody out for as long.
 */
function startOf(tat: number, windowMs: number, now: number): number {
  return tat > now && tat <= now + 2 * windowMs ? tat : now
}

function overLimit({ perMinute, waitMs }: Refusal): ServiceError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ServiceError('RATE_LIMITED', `the limit is ${perMinute} a minute, and it is used up`, {
    hint: `try again in ${seconds} s`,
    headers: { 'retry-after': `${seconds}` },
    details: { limit_per_minute: perMinute, retry_after_seconds: seconds },
  })
}

/** Without Retry-After: to wait would not help. */
function neverFits(cost: number, perMinute: number): ServiceError {
  return new ServiceError('RATE_LIMITED', `this takes ${cost} of a limit of ${perMinute} a minute, which never fits`, {
    hint: `ask for at most ${perMinute} at once`,
    details: { limit_per_minute: perMinute, cost },
  })
}
