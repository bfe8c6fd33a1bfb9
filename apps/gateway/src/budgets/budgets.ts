// Budgets: how often the gateway pays for others, and how much it pays per day. A transaction is counted when it is
// recorded, in the same database transaction, at the most that it can cost. The row of the day is locked first, so
// budgets apply to all replicas together.

import { hash } from 'node:crypto'
import { type Context, unixNow } from '../context.ts'
import type { Db, Tx } from '../db/schema.ts'
import { BUDGETS, type BudgetName } from './settings.ts'
import {
  addToDay,
  deleteOld,
  deleteSpending,
  findDay,
  insertSpending,
  lockDay,
  nthNewest,
  setExhausted,
  spentSince,
} from './store.ts'

type Parts = Pick<Context, 'now' | 'log'> & { config: Pick<Context['config'], 'budgets'> }

/** At most `count` transactions in any period of `seconds`; 0 means no limit. */
export interface Limit {
  /** The account whose transactions are counted. */
  who: string
  count: number
  seconds: number
  /** The share of a day's budget that these transactions may use, in percent: some is left for others (T-34). */
  percentOfDay?: number
}

export interface Account {
  budget: BudgetName
  limits: readonly Limit[]
}

export interface Spending extends Account {
  /** The signature or hash of the transaction. */
  tx: string
  /** The most that it can cost, in the unit of the budget. */
  amount: number
}

/** Nothing may be sent before `until`, in Unix seconds. */
export interface Refusal {
  reason: 'limit_reached' | 'daily_budget_used'
  until: number
}

export const HOUR = 3600
export const DAY = 86_400

/**
 * Counts a transaction that is about to be sent. A transaction that draws on two budgets is counted on each, in the
 * order of `BUDGETS` and for accounts with different names. Returns null if it is allowed; otherwise nothing is
 * counted.
 */
export async function spend(tx: Tx, parts: Parts, spending: Spending): Promise<Refusal | null> {
  const { budget, limits, amount } = spending
  const now = unixNow(parts)
  const today = await lockDay(tx, budget, dayOf(now))
  const refusal = await overLimit(tx, limits, now)
  if (refusal) return refusal
  const perDay = parts.config.budgets.perDay[budget]
  if (perDay > 0 && today.amount + amount > perDay) {
    if (today.exhausted_limit !== perDay) {
      parts.log.error(
        { budget, per_day: perDay, used: today.amount },
        'the daily budget is used up: transactions that it pays for wait until the next day (UTC)',
      )
      await setExhausted(tx, today, perDay)
    }
    return usedUpToday(now)
  }
  if (perDay > 0 && (await overShare(tx, spending, perDay, now)))
    return { ...usedUpToday(now), reason: 'limit_reached' }
  const accounts = new Set(limits.map(({ who }) => hashed(who)))
  await insertSpending(
    tx,
    Array.from(accounts, (who) => ({ tx: spending.tx, who, budget, amount, noted_at: now })),
  )
  await addToDay(tx, today, { amount, transactions: 1 })
  return null
}

/** Whether the next transaction would be refused, as far as its cost is known in advance. */
export async function checkBudget(db: Db, parts: Parts, { budget, limits }: Account): Promise<Refusal | null> {
  const now = unixNow(parts)
  const refusal = await overLimit(db, limits, now)
  if (refusal) return refusal
  const today = await findDay(db, budget, dayOf(now))
  return isExhausted(today, parts.config.budgets.perDay[budget]) ? usedUpToday(now) : null
}

/** For a transaction that cost nothing or that its payer paid for; with `only`, returns only that budget's part. */
export async function releaseSpending(tx: Tx, transaction: string, only: BudgetName | null = null): Promise<void> {
  const records = await deleteSpending(tx, transaction, only)
  // A budget has a row for each account; days are locked in the same order as in `spend`.
  const ofBudget = new Map(records.map((row) => [row.budget, row]))
  for (const budget of BUDGETS) {
    const row = ofBudget.get(budget)
    if (!row) continue
    const day = { budget, day: dayOf(row.noted_at) }
    await addToDay(tx, day, { amount: -row.amount, transactions: -1 })
    // The budget has something left again. If that is too little, the next transaction is refused and raises its own alarm.
    await setExhausted(tx, day, null)
  }
}

/** A raised limit applies at once. */
export function isExhausted(today: { exhausted_limit: number | null } | null, perDay: number): boolean {
  const limit = today?.exhausted_limit ?? null
  return perDay > 0 && limit !== null && limit >= perDay
}

export function dayOf(at: number): number {
  return Math.floor(at / DAY)
}

/** Twice the longest period of a limit, for transactions that are resolved late. */
const SPENDING_RETENTION_SECONDS = 2 * DAY
const DAY_RETENTION = 90

export async function forgetSpending({ database, now }: Pick<Context, 'database' | 'now'>): Promise<void> {
  const at = unixNow({ now })
  await database.commit((tx) =>
    deleteOld(tx, { noted_at: at - SPENDING_RETENTION_SECONDS, day: dayOf(at) - DAY_RETENTION }),
  )
}

/** The refusal of the limit that lasts longest. */
async function overLimit(db: Db, limits: readonly Limit[], now: number): Promise<Refusal | null> {
  let until = 0
  for (const { who, count, seconds } of limits) {
    if (count === 0) continue
    const records = await nthNewest(db, hashed(who), count, now - seconds)
    if (records !== null) until = Math.max(until, records + seconds)
  }
  return until === 0 ? null : { reason: 'limit_reached', until }
}

/** The first transaction is always allowed, however small the budget is. */
async function overShare(db: Db, { limits, budget, amount }: Spending, perDay: number, now: number): Promise<boolean> {
  for (const { who, percentOfDay } of limits) {
    if (percentOfDay === undefined) continue
    const spent = await spentSince(db, hashed(who), budget, dayOf(now) * DAY)
    if (spent > 0 && spent + amount > (perDay * percentOfDay) / 100) return true
  }
  return false
}

function usedUpToday(now: number): Refusal {
  return { reason: 'daily_budget_used', until: (dayOf(now) + 1) * DAY }
}

/** Receipt ids grant access to files, and addresses are personal data. */
function hashed(who: string): string {
  return hash('sha256', who).slice(0, 32)
}
