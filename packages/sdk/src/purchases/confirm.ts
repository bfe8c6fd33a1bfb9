import { type Confirmation, confirmStorage, type PaymentLeg } from '@svc/api/purchases'
import { canonicalTx, receiptId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { call } from '../calls/call.ts'
import { jittered } from '../calls/recovery.ts'
import type { Context } from '../context.ts'
import { GatewayError, isGatewayError, type Money, PaymentError, UntrueAnswer } from '../errors.ts'
import { checkReceipt } from '../evidence/check-receipt.ts'

/** Seconds between one question and the next, as long as the gateway does not see the transaction (PAY-54). */
const PAUSES = { solana: [2, 4, 8, 16, 32], eip155: [5, 10, 20, 40] }

export interface Payment {
  /** The leg of the quote that was paid. */
  leg: PaymentLeg
  tx: string
}

export interface ConfirmOptions {
  /** What the receipt must say, beside what follows from the leg and the transaction. */
  expected?: Partial<SignedReceipt>
  signal?: AbortSignal | undefined
}

/** Shows the gateway a transaction that paid a quote; as often as wanted, the receipt is the same. */
export async function confirm(
  context: Context,
  payment: Payment,
  options: ConfirmOptions = {},
): Promise<SignedReceipt> {
  const pauses = [...PAUSES[familyOf(payment.leg)]]
  for (;;) {
    try {
      return await confirmOnce(context, payment, options)
    } catch (error) {
      const seconds = isGatewayError(error, 'tx_not_found') ? pauses.shift() : undefined
      if (seconds === undefined) throw refused(error, payment.tx)
      await context.wait(jittered(seconds * 1000), options.signal)
    }
  }
}

export async function confirmOnce(
  context: Context,
  { leg, tx }: Payment,
  { expected, signal }: ConfirmOptions,
): Promise<SignedReceipt> {
  const { body } = await ask(context, leg, tx, signal)
  await requireFitting(context, body, leg, { ...expected, tx_hash: canonicalTx(tx) })
  return body.receipt
}

/** The receipt of a quote that has been paid, by whatever transaction; null for one that has not. */
export async function receiptOf(
  context: Context,
  leg: PaymentLeg,
  expected: Partial<SignedReceipt>,
): Promise<SignedReceipt | null> {
  // A paid quote has its receipt, whichever transaction one asks with; so this one need not exist.
  const nowhere = familyOf(leg) === 'eip155' ? `0x${'0'.repeat(64)}` : '1'.repeat(64)
  try {
    const { body } = await ask(context, leg, nowhere, undefined)
    await requireFitting(context, body, leg, expected)
    return body.receipt
  } catch (error) {
    if (isGatewayError(error, 'tx_not_found', 'quote_expired', 'payment_verification_failed')) return null
    throw error
  }
}

function familyOf({ network }: PaymentLeg): keyof typeof PAUSES {
  return network.startsWith('eip155:') ? 'eip155' : 'solana'
}

function ask(context: Context, { extra, network }: PaymentLeg, tx: string, signal: AbortSignal | undefined) {
  return call(context, confirmStorage, {
    body: { pay_req_id: extra.pay_req_id, pay_network: network, pay_asset: extra.name },
    headers: { 'x402-tx': tx },
    signal,
  })
}

function refused(error: unknown, tx: string): unknown {
  if (!(error instanceof GatewayError)) return error
  return new PaymentError(moneyAfter(error), `the gateway does not confirm the payment: ${error.message}`, {
    tx,
    cause: error,
  })
}

function moneyAfter(error: GatewayError): Money {
  if (!isGatewayError(error, 'payment_verification_failed')) return 'may_have_moved'
  return error.details.reason === 'transaction_failed' ? 'not_moved' : 'moved'
}

/** That the receipt says of the payment what we know of it. */
async function requireFitting(
  context: Context,
  { receipt, ...answer }: Confirmation,
  { extra, amount }: PaymentLeg,
  known: Partial<SignedReceipt>,
): Promise<void> {
  await checkReceipt(context, receipt)
  const { pay_req_id, name: pay_asset } = extra
  const receipt_id = receiptId(pay_req_id, receipt.tx_hash)
  const expected: Partial<SignedReceipt> = { receipt_id, pay_req_id, pay_asset, paid_raw: amount, ...known }
  if (answer.receipt_id !== receipt_id) throw new UntrueAnswer(`${answer.receipt_id} does not follow from the payment`)
  for (const field of Object.keys(expected) as (keyof SignedReceipt)[])
    if (receipt[field] !== expected[field])
      throw new UntrueAnswer(`the receipt says ${receipt[field]} for ${field}, not ${expected[field]}`)
}
