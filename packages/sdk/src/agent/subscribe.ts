// Thirty days from end to end.

import { SUBSCRIPTION_DAYS, type Subscription } from '@svc/api/agent/subscriptions'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import { PaymentError, UntrueAnswer } from '../errors.ts'
import { hasTime, type Payable, payableLeg } from '../purchases/quote.ts'
import { type Intention, paidBut, receiptOnce } from '../purchases/receipt-once.ts'
import { showPayment, showTransaction } from './confirm.ts'
import { quote } from './quote.ts'

export interface Subscribed {
  receipt: SignedReceipt
  /** As this purchase left it. */
  subscription: Subscription
}

/** Quote, payment, receipt, subscription; or as much of it as is still to be done. Another intent prolongs. */
export async function subscribe(context: Context, intention: Intention): Promise<Subscribed> {
  const { asset, wallet, signal } = intention
  const receipt = await receiptOnce(context, intention, {
    order: { subscription_days: SUBSCRIPTION_DAYS, ...(asset && { pay_asset: asset }) },
    expected: { units: 1, payer_pubkey: wallet.address },
    show: showPayment,
    payable: () => nextPayable(context, intention),
    // The service gives a quote once: one that no journal knows cannot be asked for again.
    findForgotten: async () => null,
  })
  const subscription = await subscriptionOf(context, receipt, signal).catch(paidBut(receipt.tx_hash))
  return { receipt, subscription }
}

async function nextPayable(context: Context, { wallet, asset, signal }: Intention): Promise<Payable> {
  const next = payableLeg(await quote(context, signal), wallet, asset)
  if (hasTime(context, next, wallet.landsWithin)) return next
  throw new PaymentError('not_moved', 'quotes of this service end sooner than a payment can land')
}

async function subscriptionOf(
  context: Context,
  { receipt_id, pay_req_id, network, pay_asset, tx_hash }: SignedReceipt,
  signal: AbortSignal | undefined,
): Promise<Subscription> {
  const paid = { pay_req_id, pay_network: network, pay_asset }
  const answer = await showTransaction(context, paid, tx_hash, signal)
  if (answer.receipt_id !== receipt_id) throw new UntrueAnswer('the receipt of this subscription is another one')
  return answer.subscription
}
