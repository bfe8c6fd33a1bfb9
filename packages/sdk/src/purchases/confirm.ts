import { type Confirmation, confirmStorage } from '@svc/api/purchases'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { type ConfirmOptions, confirmWith, type Payment } from './confirm-with.ts'

/** Shows the gateway a transaction that paid a quote; as often as wanted, the receipt is the same. */
export async function confirm(
  context: Context,
  payment: Payment,
  options: ConfirmOptions = {},
): Promise<SignedReceipt> {
  return (await confirmWith(context, showPayment, payment, options)).receipt
}

export async function showPayment(
  context: Context,
  { leg, tx }: Payment,
  signal: AbortSignal | undefined,
): Promise<Confirmation> {
  const body = { pay_req_id: leg.extra.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name }
  return (await call(context, confirmStorage, { body, headers: { 'x402-tx': tx }, signal })).body
}
