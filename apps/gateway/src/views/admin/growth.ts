// Totals and their growth. Counting reads every locker, so requests share a recent count.

import type { AdminGrowth } from '@svc/api/operations'
import { freshInProportion, refreshing } from '@svc/concurrency/caches'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import { countRows } from '../store.ts'
import {
  addUpLockers,
  countRestricted,
  insertSample,
  type LockerTotals,
  samplesBetween,
  thinSamples,
} from './growth-store.ts'
import { readRange, type TimeRange } from './ranges.ts'
import { countNewSales } from './sales.ts'
import { totalUsdMicros } from './sales-store.ts'

export interface Totals extends LockerTotals {
  frozen: number
  taken_down: number
  purchases: number
  usdMicros: number
  /** Unix seconds. */
  countedAt: number
}

const WAIT_MS = 30_000

export function createTotals(context: Context): () => Promise<Totals> {
  const totals = refreshing({
    load: () => countTotals(context),
    freshMs: freshInProportion,
    waitMs: WAIT_MS,
    now: context.now,
  })
  return async () => {
    const known = await totals()
    if (!known) throw new Error('the lockers could not be counted in time')
    return known
  }
}

async function countTotals(context: Pick<Context, 'database' | 'continuity' | 'now'>): Promise<Totals> {
  const { db } = context.database
  await countNewSales(context)
  return {
    ...(await addUpLockers(db)),
    ...(await countRestricted(db)),
    purchases: await countRows(db, 'receipts'),
    usdMicros: await totalUsdMicros(db),
    countedAt: unixNow(context),
  }
}

const HOUR = 3600
const DAY = 86_400
const HOURLY_DAYS = 90

/** Runs once an hour. */
export async function sampleGrowth(context: Pick<Context, 'database' | 'continuity' | 'now'>): Promise<void> {
  const now = unixNow(context)
  const { lockers, files, bytes, purchases } = await countTotals(context)
  await context.database.commit(async (tx) => {
    await insertSample(tx, { sampled_at: Math.floor(now / HOUR) * HOUR, lockers, files, bytes, purchases })
    await thinSamples(tx, now - HOURLY_DAYS * DAY)
  })
}

export async function readGrowth(context: Context, query: TimeRange): Promise<AdminGrowth> {
  const { from, to } = readRange(query, { now: unixNow(context), defaultDays: 30 })
  const samples = await samplesBetween(context.database.db, from, to)
  return {
    from: isoSeconds(from),
    to: isoSeconds(to),
    samples: samples.map(({ sampled_at, ...sample }) => ({ at: isoSeconds(sampled_at), ...sample })),
  }
}
