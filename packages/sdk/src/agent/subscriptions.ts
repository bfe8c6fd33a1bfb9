// Buys thirty days of the agent service from end to end.

import {
  confirmSubscription,
  requestSubscription,
  SUBSCRIPTION_DAYS,
  type Subscription,
  type SubscriptionConfirmation,
  type SubscriptionQuote,
} from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { PaymentError, UntrueAnswer } from '../errors.ts'
import { type ConfirmOptions, confirmWith, type Payment } from '../purchases/confirm.ts'
import { type Intention, paidButUnfinished, receiptOnce } from '../purchases/purchase.ts'
import { hasTime, type Payable, payableLeg, requireConsistentQuote } from '../purchases/quote.ts'

export interface Subscribed {
  receipt: SignedReceipt
  /** The subscription after this purchase. */
  subscription: Subscription
}

export interface SubscribeIntention extends Intention {
  /** The quote that the buyer sees; by default a new one. */
  quote?: SubscriptionQuote
}

/** Gets a quote, pays it and confirms the payment, or resumes where it stopped. Another intent adds thirty days. */
export async function subscribe(context: Context, intention: SubscribeIntention): Promise<Subscribed> {
  const { asset, wallet, signal } = intention
  const receipt = await receiptOnce(context, intention, {
    order: { subscription_days: SUBSCRIPTION_DAYS, ...(asset && { pay_asset: asset }) },
    expected: { units: 1, payer_pubkey: wallet.address },
    show: showPayment,
    payable: () => nextPayable(context, intention),
    // The service returns a quote only once, so a quote that is not in the journal is lost.
    recoverReceipt: async () => null,
  })
  const subscription = await subscriptionOf(context, receipt, signal).catch(paidButUnfinished(receipt.tx_hash))
  return { receipt, subscription }
}

async function nextPayable(context: Context, intention: SubscribeIntention): Promise<Payable> {
  const { wallet, asset, signal, quote: shown } = intention
  const next = payableLeg(shown ?? (await quote(context, signal)), wallet, asset)
  if (hasTime(context, next, wallet.landsWithin)) return next
  if (shown) throw new PaymentError('not_moved', 'the quote expires too soon: request a new one')
  throw new PaymentError('not_moved', 'quotes of this service expire before a payment can land')
}

async function subscriptionOf(
  context: Context,
  { receipt_id, pay_req_id, network, pay_asset, tx_hash }: SignedReceipt,
  signal: AbortSignal | undefined,
): Promise<Subscription> {
  const paid = { pay_req_id, pay_network: network, pay_asset }
  const answer = await showTransaction(context, paid, tx_hash, signal)
  if (answer.receipt_id !== receipt_id)
    throw new UntrueAnswer('the service answered with the receipt of another purchase')
  return answer.subscription
}

/** Gets a quote: the price of thirty days and the ways to pay it. A quote is free and not binding. */
export async function quote(context: Context, signal?: AbortSignal): Promise<SubscriptionQuote> {
  const { body } = await call(context, requestSubscription, { signal })
  if (!('accepts' in body)) throw new UntrueAnswer('the service answered a quote request with a receipt')
  requireConsistentQuote(body)
  if (body.extensions.svc.terms.subscription_days !== SUBSCRIPTION_DAYS)
    throw new UntrueAnswer('the quote is for something other than thirty days')
  return body
}

/** Shows the service the transaction that paid a quote. Repeated calls buy thirty days once. */
export function confirm(
  context: Context,
  payment: Payment,
  options: ConfirmOptions = {},
): Promise<SubscriptionConfirmation> {
  return confirmWith(context, showPayment, payment, options)
}

function showPayment(
  context: Context,
  { leg, tx }: Payment,
  signal: AbortSignal | undefined,
): Promise<SubscriptionConfirmation> {
  const paid = { pay_req_id: leg.extra.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name }
  return showTransaction(context, paid, tx, signal)
}

async function showTransaction(
  context: Context,
  paid: Body<typeof confirmSubscription>,
  tx: string,
  signal: AbortSignal | undefined,
): Promise<SubscriptionConfirmation> {
  const identity = context.signer?.address
  if (identity === undefined) throw new TypeError('confirm needs a client with a signer: the key that paid')
  const headers = { 'x402-tx': tx, [HEADER_IDENTITY]: identity }
  const { body } = await call(context, confirmSubscription, { body: paid, headers, signal })
  if (body.subscription.identity !== identity)
    throw new UntrueAnswer(`the subscription belongs to ${body.subscription.identity}, who did not pay`)
  return body
}
