import type { SubscriptionQuote } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { price as currentPrice, type Price, type Quote, requestStorage } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { toHex } from '@svc/protocol/bytes'
import { paymentReference } from '@svc/protocol/ids'
import { call } from '../calls/call.ts'
import type { CallArguments } from '../calls/input.ts'
import { type Context, gatewayNow, randomBytes } from '../context.ts'
import { PaymentError, UntrueAnswer } from '../errors.ts'
import { amountText, KNOWN_ASSETS, type KnownAsset, knownAsset } from '../money.ts'
import { referenceOf, type Wallet } from '../wallets/wallet.ts'

export type Order = Body<typeof requestStorage>

export interface QuoteOptions {
  /** The same key returns the same quote for a day. */
  idempotencyKey?: string
  signal?: AbortSignal | undefined
}

/** Reads the current price of storage on every chain. */
export async function price(context: Context, ...input: CallArguments<typeof currentPrice>): Promise<Price> {
  return (await call(context, currentPrice, ...input)).body
}

/** Gets a quote: the price of storage and the ways to pay it. A quote is free and not binding. */
export async function quote(context: Context, order: Order, options: QuoteOptions = {}): Promise<Quote> {
  // With a key, the request can be repeated after a lost answer.
  const { idempotencyKey = toHex(randomBytes(16)), signal } = options
  const headers = { 'idempotency-key': idempotencyKey }
  const { body } = await call(context, requestStorage, { body: order, headers, signal })
  if (!('accepts' in body)) throw new UntrueAnswer('the gateway did not answer the order with a quote')
  requireMatchingOrder(order, body)
  return body
}

/** Requires that the quote is consistent and for this order. */
export function requireMatchingOrder({ units, provider, extends: of }: Order, quote: Quote): void {
  requireConsistentQuote(quote)
  const { extensions } = quote
  const { price_summary, renewal } = extensions.svc
  if (price_summary.units !== units || (provider ?? price_summary.provider) !== price_summary.provider)
    throw new UntrueAnswer('the quote is not for the requested order')
  if (renewal?.receipt_id !== of) throw new UntrueAnswer('the quote is for another locker than the requested one')
}

/** A quote of either service. */
export type AnyQuote = Quote | SubscriptionQuote

/** Requires that all legs belong to one quote, and that their displayed amounts are correct. */
export function requireConsistentQuote({ accepts, extensions }: AnyQuote): void {
  const { info } = extensions.svc
  const isOneQuote = accepts.length > 0 && accepts.every(({ extra }) => extra.pay_req_id === info.pay_req_id)
  if (!isOneQuote || !/^pr_[0-9a-f]{32}$/.test(info.pay_req_id))
    throw new UntrueAnswer('the legs of the quote do not name one pay_req_id')
  for (const leg of accepts) requireTrueLeg(leg)
  requireTrueReferences(accepts, extensions.svc.payment_reference)
}

/** A payment that names another quote would not pay this one. Naming its `pay_req_id` would reveal the receipt. */
function requireTrueReferences(accepts: readonly PaymentLeg[], reference: string | undefined): void {
  const isTrue = accepts.every((leg) => {
    const { memo, pay_req_id } = leg.extra
    const isAsked = memo === undefined || memo === referenceOf(leg)
    return isAsked && (reference === undefined || (reference === paymentReference(pay_req_id) && memo !== pay_req_id))
  })
  if (!isTrue) throw new UntrueAnswer('the quote asks for a payment without its own reference')
}

/** A leg to pay, and when it expires (Unix seconds). */
export interface Payable {
  leg: PaymentLeg
  expiresAt: number
}

/** The leg for a wallet: the one in the given asset, or else the first on its network. */
export function payableLeg({ accepts, extensions }: AnyQuote, wallet: Wallet, asset?: string): Payable {
  const { namespace, isLocal } = wallet
  const { info, terms } = extensions.svc
  if (terms.environment === 'development' && !isLocal)
    throw new PaymentError('not_moved', 'this service is for development: a payment on a real chain would be lost')
  const payable = accepts.filter(({ network }) => network.startsWith(`${namespace}:`))
  const wanted = payable.filter(({ extra }) => asset === undefined || extra.name === asset)
  const leg = wanted.find(({ network }) => network === wallet.network) ?? wanted[0]
  if (!leg) throw new PaymentError('not_moved', notPayable(asset, namespace, payable))
  return { leg, expiresAt: Date.parse(info.expires_at) / 1000 }
}

function notPayable(asset: string | undefined, namespace: string, payable: readonly PaymentLeg[]): string {
  const tickers = payable.map(({ extra }) => extra.name)
  const what = tickers.length > 0 ? `${asset}; it accepts ${tickers.join(', ')}` : 'anything'
  return `the quote cannot be paid with a ${namespace} key in ${what}`
}

/** Whether a quote has more than this many seconds left. */
export function hasTime(context: Context, { expiresAt }: Payable, seconds: number): boolean {
  return gatewayNow(context) < (expiresAt - seconds) * 1000
}

/** More than any asset has. Without a limit, formatting an amount could take forever. */
const MAX_DECIMALS = 36

/** Requires that the displayed asset and amount of a leg are the ones to pay. */
export function requireTrueLeg(leg: PaymentLeg): void {
  const { asset, amount, extra } = leg
  const { name, decimals, human_amount } = extra
  const known = knownAsset(leg) ?? namesake(leg)
  if (known && (known !== knownAsset(leg) || known.ticker !== name || known.decimals !== decimals))
    throw new UntrueAnswer(`the quote calls ${asset} ${name}, with ${decimals} decimals; ${described(known)}`)
  const isAmount = /^[1-9]\d{0,77}$/.test(amount) && Number.isInteger(decimals) && decimals >= 0
  if (!isAmount || decimals > MAX_DECIMALS || amountText(BigInt(amount), decimals) !== human_amount)
    throw new UntrueAnswer(
      `the quote shows ${human_amount} ${name}, but asks for ${amount} units with ${decimals} decimals`,
    )
}

/** The known asset that a name suggests. */
function namesake({ network, extra }: PaymentLeg): KnownAsset | null {
  const ticker = extra.name.toUpperCase()
  return KNOWN_ASSETS.find((known) => known.network === network && known.ticker === ticker) ?? null
}

function described({ ticker, address, decimals }: KnownAsset): string {
  return `${ticker} is ${address}, with ${decimals}`
}
