// The spending limits. A payment is counted before it is signed, in a journal that other processes share.

import type { PaymentLeg } from '@svc/api/quote'
import { type Journal, journalEntry, type NetworkFee, type SignedPayment, type Wallet } from '@svc/sdk'
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
  /**
   * Set once another payment of the purchase was counted. This one counts unless the chain shows that it moved no
   * money.
   */
  superseded?: SignedPayment[]
}

/** A payment of a purchase that is about to be signed. */
interface NextPayment {
  leg: PaymentLeg
  fee: NetworkFee | null
  /** The payment that this one replaces; only one of the two can land. */
  replaced: SignedPayment | null
  /** The payments of the purchase that were signed before. */
  signed: readonly SignedPayment[]
}

export interface Spending {
  /** Throws if the payment would exceed a limit; counts nothing. */
  check(purchase: Purchase, leg: PaymentLeg): Promise<void>
  /** Counts a payment and its network fee, or throws if they would exceed a limit. */
  count(purchase: Purchase, payment: NextPayment): Promise<void>
  /** Stops counting the newest payment if it was not signed. If it was, the chain decides. */
  uncount(purchase: Purchase, signed: readonly SignedPayment[]): Promise<void>
  /** The payments of a day (`2026-11-15`) that moved money, or may have. */
  on(day: string): Promise<Spent[]>
}

interface SpendingOptions {
  journal: Journal
  address: string
  limits: Limits
  today: () => string
  outcomeOf: Wallet['outcomeOf']
}

export function createSpending({ journal, address, limits, today, outcomeOf }: SpendingOptions): Spending {
  const entryOf = (day: string) => journalEntry<Spent[]>(journal, `mcp spending ${address} ${day}`)

  async function change(next: (spent: Spent[]) => Spent[] | Promise<Spent[]>): Promise<void> {
    const entry = entryOf(today())
    for (;;) {
      const spent = (await entry.read()) ?? []
      if (await entry.write(await next(spent))) return
    }
  }

  async function costWith(others: readonly Spent[], leg: PaymentLeg, fee: NetworkFee | null): Promise<bigint> {
    const cost = requireWithin(leg, fee, limits)
    const before = (await counted(others)).reduce((sum, { micro_usd }) => sum + BigInt(micro_usd), 0n)
    if (before + cost > limits.perDay) throw overDay(before, cost, limits.perDay)
    return cost
  }

  async function counted(spent: readonly Spent[]): Promise<Spent[]> {
    const counts = await Promise.all(spent.map(({ superseded }) => !superseded || mayHaveMoved(superseded)))
    return spent.filter((_, i) => counts[i])
  }

  /** Asks the chain each time: a payment that seemed lost may land after the next one was signed. */
  async function mayHaveMoved(payments: readonly SignedPayment[]): Promise<boolean> {
    const outcomes = await Promise.all(payments.map((payment) => outcomeOf(payment).catch(() => 'pending')))
    return outcomes.some((outcome) => outcome === 'landed' || outcome === 'pending')
  }

  const on = async (day: string) => counted((await entryOf(day).read()) ?? [])

  return {
    on,
    async check(purchase, leg) {
      const spent = (await entryOf(today()).read()) ?? []
      await costWith(spent.filter(isOtherPayment(purchase)), leg, null)
    },
    count: ({ seller, intent }, { leg, fee, replaced, signed }) =>
      change(async (spent) => {
        const isOther = isOtherPayment({ seller, intent })
        const others = replaced ? spent.filter(isOther) : supersede(spent, { seller, intent }, signed)
        let cost = await costWith(others, leg, fee)
        const ofReplaced = BigInt((replaced && spent.find((one) => !isOther(one))?.micro_usd) ?? 0)
        // Either of the two may land.
        if (ofReplaced > cost) cost = ofReplaced
        return [...others, { seller, intent, micro_usd: cost.toString() }]
      }),
    uncount: (purchase, signed) => change((spent) => supersede(spent, purchase, signed)),
  }
}

/** Matches every payment except the newest one of this purchase. */
function isOtherPayment(purchase: Purchase) {
  return ({ intent, seller, superseded }: Spent) =>
    superseded !== undefined || intent !== purchase.intent || seller !== purchase.seller
}

/** Records the payments that the newest entry of a purchase covers. An entry without any was never signed: drops it. */
function supersede(spent: readonly Spent[], purchase: Purchase, signed: readonly SignedPayment[]): Spent[] {
  const known = new Set(spent.flatMap(({ superseded = [] }) => superseded.map(({ tx }) => tx)))
  const superseded = signed.filter(({ tx }) => !known.has(tx) && known.add(tx))
  const isOther = isOtherPayment(purchase)
  return spent.flatMap((one) => {
    if (isOther(one)) return [one]
    return superseded.length > 0 ? [{ ...one, superseded }] : []
  })
}

const TELL = 'Tell the user, and do not split the purchase'

function requireWithin(leg: PaymentLeg, fee: NetworkFee | null, limits: Limits): bigint {
  const price = dollarsOf(leg, limits)
  const { human_amount, name } = leg.extra
  if (price === null) {
    const message = `this server does not pay in ${name} (${leg.asset}): its value is unknown`
    throw new Refusal('asset_not_allowed', `${message}. Nothing was paid`, `Only the user can change that. ${TELL}`)
  }
  const ofNetwork = fee && dollarsOfFee(fee, limits)
  if (fee && ofNetwork === null) {
    const message = `the network charges ${feeText(fee)}, whose value is unknown. Nothing was paid`
    throw new Refusal('asset_not_allowed', message, `Only the user can change that. ${TELL}`)
  }
  const cost = price + (ofNetwork ?? 0n)
  if (cost <= limits.perPurchase) return cost
  const besides = fee ? ` and ${feeText(fee)} for the network` : ''
  const message = `it costs ${human_amount} ${name}${besides}, counted as $${dollarText(cost)}`
  const limit = `the limit for one purchase is $${dollarText(limits.perPurchase)} (SVC_MCP_MAX_USD)`
  const hint = `${raise('SVC_MCP_MAX_USD', cost)}; until then every such call is refused. ${TELL}`
  throw new Refusal('over_purchase_limit', `${message}; ${limit}. Nothing was paid`, hint)
}

function overDay(before: bigint, cost: bigint, limit: bigint): Refusal {
  const message = `it would cost $${dollarText(cost)} after $${dollarText(before)} today (UTC)`
  const rule = `the limit for a day is $${dollarText(limit)} (SVC_MCP_MAX_USD_PER_DAY)`
  const tomorrow = cost > limit ? 'until then it is refused every day' : 'the day ends at midnight UTC'
  const hint = `${raise('SVC_MCP_MAX_USD_PER_DAY', before + cost)}; ${tomorrow}. ${TELL}`
  return new Refusal('over_day_limit', `${message}; ${rule}. Nothing was paid`, hint)
}

function raise(setting: string, micro: bigint): string {
  return `Only the user can raise ${setting} to ${dollarText(micro)} or more and restart this server`
}
