// What is left of the daily budgets, and what waits for them.

import { isoSeconds } from '@svc/protocol/evidence'
import { DAY, dayOf, isExhausted } from '../budgets/budgets.ts'
import { BUDGET_UNITS, BUDGETS, type BudgetName } from '../budgets/settings.ts'
import { type Context, unixNow } from '../context.ts'
import { budgetsOfDay, countDeferredEntries, countUnpublished } from './store.ts'

type Parts = Pick<Context, 'config' | 'database' | 'now'>

export interface BudgetState {
  name: BudgetName
  unit: 'lamports' | 'gwei'
  /** 0 means no limit. */
  perDay: number
  used: number
  transactions: number
  isExhausted: boolean
  /** Unix seconds. */
  resetsAt: number
}

export async function budgetStates({ config, database, now }: Parts): Promise<BudgetState[]> {
  const today = dayOf(unixNow({ now }))
  const rows = new Map((await budgetsOfDay(database.db, today)).map((row) => [row.budget, row]))
  return BUDGETS.map((name) => {
    const row = rows.get(name)
    const perDay = config.budgets.perDay[name]
    return {
      name,
      unit: BUDGET_UNITS[name],
      perDay,
      used: row?.amount ?? 0,
      transactions: row?.transactions ?? 0,
      isExhausted: isExhausted(row ?? null, perDay),
      resetsAt: (today + 1) * DAY,
    }
  })
}

export function usedUp({ name, unit, perDay, resetsAt }: BudgetState): string {
  return `the daily budget ${name} of ${perDay} ${unit} is used up: its payments wait until ${isoSeconds(resetsAt)}`
}

export interface UnpublishedCounts {
  /** How many publications wait for a budget. */
  deferred: { anchor: number; evm_entry: number }
  /** Statements whose publication failed and is retried. */
  failed: number
}

export async function unpublishedCounts({ database: { db } }: Pick<Context, 'database'>): Promise<UnpublishedCounts> {
  const { deferred, failed } = await countUnpublished(db)
  return { deferred: { anchor: deferred, evm_entry: await countDeferredEntries(db) }, failed }
}
