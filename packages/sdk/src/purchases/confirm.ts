// Confirms a payment: shows a service the transaction that paid its quote.

import { type Confirmation, confirmStorage } from '@svc/api/purchases'
import type { PaymentLeg } from '@svc/api/quote'
import { canonicalTx, receiptId } from '@svc/protocol/ids'
import { receiptClaim, type SignedReceipt } from '@svc/protocol/receipt'
import { call } from '../calls/call.ts'
import { jittered } from '../calls/recovery.ts'
import type { Context } from '../context.ts'
import { GatewayError, isGatewayError, type Money, PaymentError, UntrueAnswer } from '../errors.ts'
import { checkReceipt } from '../evidence/checks.ts'
import { isPrivateHost } from '../local-services.ts'

/** Seconds between attempts while the service does not see the transaction (PAY-54). */
const PAUSES = { solana: [2, 4, 8, 16, 32], eip155: [5, 10, 20, 40] }

export interface Payment {
  /** The leg of the quote that was paid. */
  leg: PaymentLeg
  tx: string
}

/** A leg, and the URL in the quote for confirming its payment. */
export interface QuotedLeg {
  leg: PaymentLeg
  confirmUrl: string
}

/** The answer of a service that accepts a payment. */
export interface Confirmed {
  receipt_id: string
  receipt: SignedReceipt
}

/** Makes one request. Throws if the payment is not accepted. */
export type ShowPayment<C extends Confirmed> = (
  context: Context,
  payment: Payment,
  signal: AbortSignal | undefined,
) => Promise<C>

export interface ConfirmOptions {
  /** Receipt fields to require besides those of the leg and the transaction. */
  expected?: Partial<SignedReceipt>
  signal?: AbortSignal | undefined
}

/** Confirms a payment. Repeated calls return the same receipt. */
export async function confirmWith<C extends Confirmed>(
  context: Context,
  show: ShowPayment<C>,
  payment: Payment,
  options: ConfirmOptions,
): Promise<C> {
  const pauses = [...PAUSES[familyOf(payment.leg)]]
  for (;;) {
    try {
      return await confirmOnce(context, show, payment, options)
    } catch (error) {
      const seconds = isGatewayError(error, 'tx_not_found') ? pauses.shift() : undefined
      if (seconds === undefined) throw refused(error, payment.tx)
      await context.wait(jittered(seconds * 1000), options.signal)
    }
  }
}

export async function confirmOnce<C extends Confirmed>(
  context: Context,
  show: ShowPayment<C>,
  payment: Payment,
  { expected, signal }: ConfirmOptions,
): Promise<C> {
  const answer = await show(context, payment, signal)
  await requireMatchingReceipt(context, answer, payment.leg, { ...expected, tx_hash: canonicalTx(payment.tx) })
  return answer
}

/** The receipt of a quote that this client's key paid with any transaction. Null for an unpaid quote. */
export async function receiptOf(
  context: Context,
  { leg, confirmUrl }: QuotedLeg,
  { expected = {}, signal }: ConfirmOptions,
): Promise<SignedReceipt | null> {
  // Gateways of earlier releases return the receipt of a paid quote for any transaction, so this one need not exist.
  const payment = { leg, tx: familyOf(leg) === 'eip155' ? `0x${'0'.repeat(64)}` : '1'.repeat(64) }
  try {
    const answer = await showPayment(context, payment, signal).catch(async (error: unknown) => {
      // Sign only if necessary, because a wallet may ask its user each time.
      if (!context.signer || !isAlreadyPaid(error)) throw error
      requireOwnAddress(context, confirmUrl)
      const payer_signature = await context.signer.sign(receiptClaim(confirmUrl, leg.extra.pay_req_id))
      return showPayment(context, payment, signal, { payer_signature })
    })
    await requireMatchingReceipt(context, answer, leg, expected)
    return answer.receipt
  } catch (error) {
    // A paid quote must not be paid again, no matter who paid it.
    if (isAlreadyPaid(error)) throw error
    if (isGatewayError(error, 'tx_not_found', 'quote_expired', 'payment_verification_failed')) return null
    throw error
  }
}

/** A signature for another service would give it the receipt. In development, a gateway can have several addresses. */
function requireOwnAddress({ baseUrl }: Context, confirmUrl: string): void {
  const isPlain = URL.parse(confirmUrl)?.href === confirmUrl
  const isOwn = confirmUrl.startsWith(`${baseUrl}/`) || (isPlain && isPrivateHost(confirmUrl) && isPrivateHost(baseUrl))
  if (!isPlain || !isOwn) throw new UntrueAnswer(`the quote must be confirmed at ${confirmUrl}, not at ${baseUrl}`)
}

function isAlreadyPaid(error: unknown): boolean {
  return isGatewayError(error, 'payment_verification_failed') && error.details.reason === 'quote_already_paid'
}

function familyOf({ network }: PaymentLeg): keyof typeof PAUSES {
  return network.startsWith('eip155:') ? 'eip155' : 'solana'
}

function refused(error: unknown, tx: string): unknown {
  if (!(error instanceof GatewayError)) return error
  return new PaymentError(moneyAfter(error), `the ${error.service} does not confirm the payment: ${error.message}`, {
    tx,
    cause: error,
  })
}

function moneyAfter(error: GatewayError): Money {
  if (!isGatewayError(error, 'payment_verification_failed')) return 'may_have_moved'
  return error.details.reason === 'transaction_failed' ? 'not_moved' : 'moved'
}

/** Requires that the receipt matches the payment. */
async function requireMatchingReceipt(
  context: Context,
  { receipt, ...answer }: Confirmed,
  { extra, amount }: PaymentLeg,
  known: Partial<SignedReceipt>,
): Promise<void> {
  await checkReceipt(context, receipt)
  const { pay_req_id, name: pay_asset } = extra
  const receipt_id = receiptId(pay_req_id, receipt.tx_hash)
  const expected: Partial<SignedReceipt> = { receipt_id, pay_req_id, pay_asset, ...known }
  if (answer.receipt_id !== receipt_id)
    throw new UntrueAnswer(`the receipt id ${answer.receipt_id} is not derived from the payment`)
  for (const field of Object.keys(expected) as (keyof SignedReceipt)[])
    if (receipt[field] !== expected[field])
      throw new UntrueAnswer(`the receipt has ${receipt[field]} as ${field}, not ${expected[field]}`)
  // The admin may have accepted less than the quoted amount. A receipt for more would claim an amount that was not
  // paid.
  if (!/^[1-9]\d*$/.test(receipt.paid_raw) || BigInt(receipt.paid_raw) > BigInt(amount))
    throw new UntrueAnswer(`the receipt has ${receipt.paid_raw} as paid_raw, but the quote asks for ${amount}`)
}

/** Shows the gateway the transaction that paid a quote. Repeated calls return the same receipt. */
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
  proof: { payer_signature?: string } = {},
): Promise<Confirmation> {
  const body = { pay_req_id: leg.extra.pay_req_id, pay_network: leg.network, pay_asset: leg.extra.name, ...proof }
  return (await call(context, confirmStorage, { body, headers: { 'x402-tx': tx }, signal })).body
}
