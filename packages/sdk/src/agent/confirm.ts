import { confirmSubscription, type SubscriptionConfirmation } from '@svc/api/agent/subscriptions'
import type { Body } from '@svc/api/endpoint'
import { HEADER_IDENTITY } from '@svc/protocol/names'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { type ConfirmOptions, confirmWith, type Payment } from '../purchases/confirm-with.ts'

/** Shows the service a transaction that paid a quote; as often as wanted, it buys thirty days once. */
export function confirm(
  context: Context,
  payment: Payment,
  options: ConfirmOptions = {},
): Promise<SubscriptionConfirmation> {
  return confirmWith(context, showPayment, payment, options)
}

export function showPayment(
  context: Context,
  { leg, tx }: Payment,
  signal: AbortSignal | undefined,
): Promise<SubscriptionConfirmation> {
  const paid = { pay_req_id: leg.extra.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name }
  return showTransaction(context, paid, tx, signal)
}

export async function showTransaction(
  context: Context,
  paid: Body<typeof confirmSubscription>,
  tx: string,
  signal: AbortSignal | undefined,
): Promise<SubscriptionConfirmation> {
  const identity = context.signer?.address
  if (identity === undefined) throw new TypeError('to confirm needs a client with a signer: the key that paid')
  const headers = { 'x402-tx': tx, [HEADER_IDENTITY]: identity }
  const { body } = await call(context, confirmSubscription, { body: paid, headers, signal })
  if (body.subscription.identity !== identity)
    throw new UntrueAnswer(`the subscription belongs to ${body.subscription.identity}, who did not pay`)
  return body
}
