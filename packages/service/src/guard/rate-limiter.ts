// Rate limits that all replicas share. A key may use its whole limit immediately and regains it evenly over a minute.
// One number is stored per key: the theoretical arrival time (TAT), at which the whole limit is available again (GCRA).

import { hash } from 'node:crypto'
import { lru } from '@svc/concurrency/caches'
import { groupWrites } from '@svc/database/commit'
import type { Database } from '@svc/database/open'
import type { Transaction } from 'kysely'
import { ServiceError } from '../service-error.ts'
import { deletePastTats, lockTats, type RateTables, setTats } from './rate-store.ts'

interface Ask {
  /** The limited action and the caller. It may contain secrets. */
  key: string
  /** 0 means no limit. */
  perMinute: number
  /** 1 by default. */
  cost?: number
}

export interface RateLimiter {
  /** Takes all asks together; throws RATE_LIMITED and takes nothing when one of them exceeds its limit. */
  take(...asks: Ask[]): Promise<void>
  /** Throws when this process already knows that the key is over its limit; takes nothing. */
  refuseExhausted(ask: Ask): void
  /** Deletes the keys whose whole limit is available again. */
  forget(): Promise<void>
}

/** For a service's own work, which can wait: takes from the limits and returns whether they allowed it. */
export async function isWithinLimits(limiter: RateLimiter, ...asks: Ask[]): Promise<boolean> {
  try {
    await limiter.take(...asks)
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return false
    throw error
  }
}

/** The number of exhausted keys that are rejected without a query. */
const MAX_CACHED = 10_000

interface Options {
  database: Pick<Database<RateTables>, 'db' | 'commit'>
  /** Unix milliseconds. */
  now: () => number
}

/** Read requests are limited even while the database may be behind. */
const WHILE_BEHIND = { whileBehind: true }

export function createRateLimiter({ database: { db, commit }, now }: Options): RateLimiter {
  // A TAT only grows, whichever replica takes, so an earlier one is enough to reject a call.
  const exhausted = lru<string, number>(MAX_CACHED)
  const cacheRefusal = ({ key, tat }: Refusal) => exhausted.set(key, tat)

  async function takeIn(tx: Transaction<RateTables>, calls: readonly Need[][]): Promise<(Refusal | null)[]> {
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
  }
  const takeAll = groupWrites(commit, takeIn, WHILE_BEHIND)

  return {
    async take(...asks) {
      const needs = asks.filter(({ perMinute }) => perMinute !== 0).map(needOf)
      if (needs.length === 0) return
      const refusal = weigh(needs, (key) => exhausted.get(key), now()).refusal ?? (await takeAll(needs))
      if (!refusal) return
      cacheRefusal(refusal)
      throw overLimit(refusal)
    },
    refuseExhausted(ask) {
      if (ask.perMinute === 0) return
      const { refusal } = weigh([needOf(ask)], (key) => exhausted.get(key), now())
      if (refusal) throw overLimit(refusal)
    },
    forget: () => deletePastTats(db, commit, now()),
  }
}

/** An ask in milliseconds: the whole limit is regained in `windowMs`, and the ask costs `costMs` of it. */
interface Need {
  key: string
  perMinute: number
  costMs: number
  windowMs: number
}

function needOf({ key, perMinute, cost = 1 }: Ask): Need {
  if (!Number.isSafeInteger(perMinute) || perMinute < 0 || !Number.isSafeInteger(cost) || cost < 0) {
    throw new RangeError(`cannot count ${cost} of ${perMinute} a minute`)
  }
  if (cost > perMinute) throw neverFits(cost, perMinute)
  // Whole milliseconds, rounded up: when a minute does not divide evenly, the limit is regained slightly later.
  const unitMs = Math.ceil(60_000 / perMinute)
  return { key: hash('sha256', key).slice(0, 32), perMinute, costMs: cost * unitMs, windowMs: perMinute * unitMs }
}

interface Refusal {
  key: string
  tat: number
  perMinute: number
  waitMs: number
}

/** The TAT of each key when all is taken, or the refusal with the longest wait. */
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
 * A TAT further ahead than the clocks of two replicas may differ was written before the clock was set back. Waiting for
 * it would lock the key out for that long.
 */
function startOf(tat: number, windowMs: number, now: number): number {
  return tat > now && tat <= now + 2 * windowMs ? tat : now
}

function overLimit({ perMinute, waitMs }: Refusal): ServiceError {
  const seconds = Math.ceil(waitMs / 1000)
  return new ServiceError('RATE_LIMITED', `the limit of ${perMinute} a minute is used up`, {
    hint: `try again in ${seconds} s`,
    headers: { 'retry-after': `${seconds}` },
    details: { limit_per_minute: perMinute, retry_after_seconds: seconds },
  })
}

/** Omits Retry-After: waiting would not help. */
function neverFits(cost: number, perMinute: number): ServiceError {
  return new ServiceError(
    'RATE_LIMITED',
    `this request counts as ${cost}, which exceeds the limit of ${perMinute} a minute`,
    {
      hint: `request at most ${perMinute} at once`,
      details: { limit_per_minute: perMinute, cost },
    },
  )
}
