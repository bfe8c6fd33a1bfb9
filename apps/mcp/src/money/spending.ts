// What the wallet may spend. A payment is counted before it is signed, and noted where also other processes look.

import type { PaymentLeg } from '@svc/api/quote'
import { type Journal, journalEntry } from '@svc/sdk'
import { Refusal } from '../errors.ts'
import type { Limits } from './dollars.ts'
import { dollarsOf, dollarText } from './dollars.ts'

/** What is paid for: an intent is a name that a buyer uses with one seller. */
export interface Purchase {
  /** Address of the service that sells. */
  seller: string
  intent: string
}

interface Spent extends Purchase {
  /** Millionths of a dollar, in decimal. */
  micro_usd: string
}

export interface Spending {
  /** Throws why a payment must not be made, and counts nothing. */
  consider(purchase: Purchase, leg: PaymentLeg): Promise<void>
  /** Counts a payment, or throws why it must not be made. A purchase counts once a day. */
  count(purchase: Purchase, leg: PaymentLeg): Promise<void>
  /** For a payment that was counted but certainly not made. */
  takeBack(purchase: Purchase): Promise<void>
  /** Of one day, `2026-11-15`. */
  on(day: string): Promise<Spent[]>
}

interface SpendingOptions {
  journal: Journal
  address: string
  limits: Limits
  today: () => string
}

export function createSpending({ journal, address, limits, today }: SpendingOptions): Spending {
  const entryOf = (day: string) => journalEntry<Spent[]>(journal, `mcp spending ${address} ${day}`)

  const isOther = (purchase: Purchase) => (one: Spent) =>
    one.intent !== purchase.intent || one.seller !== purchase.seller

  async function change(purchase: Purchase, next: (others: Spent[]) => Spent[]): Promise<void> {
    const entry = entryOf(today())
    for (;;) {
      const spent = (await entry.read()) ?? []
      if (await entry.write(next(spent.filter(isOther(purchase))))) return
    }
  }

  function costBeside(others: readonly Spent[], leg: PaymentLeg): bigint {
    const cost = requireWithin(leg, limits)
    const before = others.reduce((sum, { micro_usd }) => sum + BigInt(micro_usd), 0n)
    if (before + cost > limits.perDay) throw overDay(before, cost, limits.perDay)
    return cost
  }

  const on = async (day: string) => (await entryOf(day).read()) ?? []

  return {
    on,
    async consider(purchase, leg) {
      costBeside((await on(today())).filter(isOther(purchase)), leg)
    },
    count: ({ seller, intent }, leg) =>
      change({ seller, intent }, (others) => [
        ...others,
        { seller, intent, micro_usd: costBeside(others, leg).toString() },
      ]),
    takeBack: (purchase) => change(purchase, (others) => others),
  }
}

const WHO_MAY = 'Only the operator of this server can change that; tell the user, and do not split the purchase'

function requireWithin(leg: PaymentLeg, limits: Limits): bigint {
  const cost = dollarsOf(leg, limits)
  const { human_amount, name } = leg.extra
  if (cost === null) {
    const message = `this server does not pay in ${name} (${leg.asset}): it cannot tell what that is worth`
    throw new Refusal('asset_not_allowed', `${message}. Nothing was paid`, `Pay with USDC. ${WHO_MAY}`)
  }
  if (cost <= limits.perPurchase) return cost
  const message = `it costs ${human_amount} ${name}, counted as $${dollarText(cost)}`
  const limit = `one purchase may cost $${dollarText(limits.perPurchase)} (SVC_MCP_MAX_USD)`
  throw new Refusal('over_purchase_limit', `${message}; ${limit}. Nothing was paid`, WHO_MAY)
}

function overDay(before: bigint, cost: bigint, limit: bigint): Refusal {
  const message = `it would cost $${dollarText(cost)} after $${dollarText(before)} today (UTC)`
  const rule = `a day may cost $${dollarText(limit)} (SVC_MCP_MAX_USD_PER_DAY)`
  return new Refusal('over_day_limit', `${message}; ${rule}. Nothing was paid`, `${WHO_MAY}; tomorrow is another day`)
}
