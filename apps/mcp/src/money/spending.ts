// The spending limits. A payment is counted before it is signed, in a journal that other processes share.

import type { PaymentLeg } from '@svc/api/quote'
import { type Journal, journalEntry, type NetworkFee } from '@svc/sdk'
import { feeText } from '@svc/sdk/money'
import { Refusal } from '../errors.ts'
import type { Limits } from './dollars.ts'
import { dollarsOf, dollarsOfFee, dollarText } from './dollars.ts'

/** A purchase is identified by its seller and its intent. */
export interface Purchase {
  /** The address of the selling service. */
  seller: string
  intent: string
}

interface Spent extends Purchase {
  /** Millionths of a dollar, as a decimal string. */
  micro_usd: string
}

export interface Spending {
  /** Throws if the payment would exceed a limit; counts nothing. */
  check(purchase: Purchase, leg: PaymentLeg): Promise<void>
  /** Counts a payment and its network fee, or throws if they would exceed a limit. A purchase counts once a day. */
  count(purchase: Purchase, leg: PaymentLeg, fee: NetworkFee | null): Promise<void>
  /** Removes a payment that was counted but certainly not made. */
  uncount(purchase: Purchase): Promise<void>
  /** The payments of a day: `2026-11-15`. */
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

  function costBeside(others: readonly Spent[], leg: PaymentLeg, fee: NetworkFee | null): bigint {
    const cost = requireWithin(leg, fee, limits)
    const before = others.reduce((sum, { micro_usd }) => sum + BigInt(micro_usd), 0n)
    if (before + cost > limits.perDay) throw overDay(before, cost, limits.perDay)
    return cost
  }

  const on = async (day: string) => (await entryOf(day).read()) ?? []

  return {
    on,
    async check(purchase, leg) {
      costBeside((await on(today())).filter(isOther(purchase)), leg, null)
    },
    count: ({ seller, intent }, leg, fee) =>
      change({ seller, intent }, (others) => [
        ...others,
        { seller, intent, micro_usd: costBeside(others, leg, fee).toString() },
      ]),
    uncount: (purchase) => change(purchase, (others) => others),
  }
}

const TELL = 'Tell the user, and do not split the purchase'

function requireWithin(leg: PaymentLeg, fee: NetworkFee | null, limits: Limits): bigint {
  const price = dollarsOf(leg, limits)
  const { human_amount, name } = leg.extra
  if (price === null) {
    const message = `this server does not pay in ${name} (${leg.asset}): it cannot tell what that is worth`
    throw new Refusal(
      'asset_not_allowed',
      `${message}. Nothing was paid`,
      `Pay with USDC. Only the user can change that. ${TELL}`,
    )
  }
  const ofNetwork = fee && dollarsOfFee(fee, limits)
  if (fee && ofNetwork === null) {
    const message = `the network charges ${feeText(fee)}: this server cannot tell what that is worth. Nothing was paid`
    throw new Refusal('asset_not_allowed', message, `Only the user can change that. ${TELL}`)
  }
  const cost = price + (ofNetwork ?? 0n)
  if (cost <= limits.perPurchase) return cost
  const besides = fee ? ` and ${feeText(fee)} for the network` : ''
  const message = `it costs ${human_amount} ${name}${besides}, counted as $${dollarText(cost)}`
  const limit = `one purchase may cost $${dollarText(limits.perPurchase)} (SVC_MCP_MAX_USD)`
  const hint = `${raise('SVC_MCP_MAX_USD', cost)}; until then every such call is refused. ${TELL}`
  throw new Refusal('over_purchase_limit', `${message}; ${limit}. Nothing was paid`, hint)
}

function overDay(before: bigint, cost: bigint, limit: bigint): Refusal {
  const message = `it would cost $${dollarText(cost)} after $${dollarText(before)} today (UTC)`
  const rule = `a day may cost $${dollarText(limit)} (SVC_MCP_MAX_USD_PER_DAY)`
  const tomorrow = cost > limit ? 'until then it is refused on every day' : 'or call again tomorrow'
  const hint = `${raise('SVC_MCP_MAX_USD_PER_DAY', before + cost)}; ${tomorrow}. ${TELL}`
  return new Refusal('over_day_limit', `${message}; ${rule}. Nothing was paid`, hint)
}

function raise(setting: string, micro: bigint): string {
  return `Only the user can raise ${setting} to ${dollarText(micro)} or more and restart this server`
}
