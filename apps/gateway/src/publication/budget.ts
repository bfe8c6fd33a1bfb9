// How often and at what cost the gateway publishes for a receipt (T-34). What is over the budget waits: then the newest
// statement is published.

import { DAY, HOUR, type Limit, type Refusal } from '../budgets/budgets.ts'
import { type Context, unixNow } from '../context.ts'

/** Statements, entries of the EVM registry and codes of payments are counted apart. */
type Kind = 'anchor' | 'entry' | 'payment'

export function limitsOf({ config }: Pick<Context, 'config'>, kind: Kind, receiptId: string): Limit[] {
  const { anchorsPerHour, anchorsPerDay } = config.budgets
  const who = `${kind} ${receiptId}`
  return [
    { who, count: anchorsPerHour, seconds: HOUR },
    { who, count: anchorsPerDay, seconds: DAY },
  ]
}

/** An operator who raises a limit should not have to wait for the next day. */
const MAX_DELAY_SECONDS = 900

/** When to try again. */
export function delayOf(parts: Pick<Context, 'now'>, { until }: Refusal): number {
  return Math.min(Math.max(until - unixNow(parts), 1), MAX_DELAY_SECONDS)
}
