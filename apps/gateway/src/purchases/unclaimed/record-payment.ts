// Records payments of known quotes that get no receipt: a second payment of a paid quote, a late payment, or one that
// is too small. The admin returns them from one list (T-205). The chain proves that each recorded payment has paid a
// leg of its quote, so every row costs its sender money; a quote has at most a few rows.

import type { Quote } from '@svc/api/purchases'
import type { LegChoice } from '@svc/payments/legs'
import { type ChainPayment, judgePayment } from '@svc/payments/payment'
import { nameOnly } from '@svc/payments/references'
import {
  paidLeg,
  type QuotedLeg,
  type RefusedPayment,
  type ShownPayment,
  type StoredQuote,
} from '@svc/payments/selling/confirm'
import { isQuotePaid, secondPaymentRefused, secondPaymentUnseen } from '@svc/payments/selling/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { RecordDocuments } from '../../continuity/document-id.ts'
import { unclaimedKey } from '../../continuity/documents.ts'
import type { Tx, UnclaimedPaymentTable } from '../../db/schema.ts'
import { findPayRequest, type PayRequest } from '../store.ts'
import { countUnclaimed, hasUnclaimed, insertUnclaimed, isClaimed } from './store.ts'

const MAX_OF_QUOTE = 20

export interface RecordResult {
  /** False when receipts account for it, or the quote has too many rows. */
  isRecorded: boolean
  isNew: boolean
}

/** Runs in the transaction of the operation that found the payment. */
export async function recordUnclaimed(
  tx: Tx,
  recordDocuments: RecordDocuments,
  payment: UnclaimedPaymentTable,
): Promise<RecordResult> {
  if (await isClaimed(tx, payment)) return { isRecorded: false, isNew: false }
  if (await hasUnclaimed(tx, payment)) return { isRecorded: true, isNew: false }
  if ((await countUnclaimed(tx, payment.pay_req_id)) >= MAX_OF_QUOTE) return { isRecorded: false, isNew: false }
  const isNew = await insertUnclaimed(tx, payment)
  if (isNew) recordDocuments({ kind: 'unclaimed', key: unclaimedKey(payment) })
  return { isRecorded: true, isNew }
}

/** The row of a second payment, from the receipt that it would have received. */
export function secondPaymentOf(receipt: SignedReceipt): UnclaimedPaymentTable {
  return { ...paymentOf(receipt), reason: 'quote_already_paid' }
}

/** Whole units cost exact amounts; a slight excess is rounding, not an overpayment. */
const ROUNDING = 100n

/** Records the excess of a payment over its receipt, in the receipt's transaction, without a notice. */
export async function recordOverpaid(tx: Tx, receipt: SignedReceipt, paid: bigint): Promise<void> {
  const payment = paymentOf(receipt)
  if ((BigInt(payment.received) - paid) * ROUNDING >= paid)
    await insertUnclaimed(tx, { ...payment, reason: 'overpaid' })
}

function paymentOf(receipt: SignedReceipt): Omit<UnclaimedPaymentTable, 'reason'> {
  const { network, tx_hash: tx, pay_asset: asset, pay_req_id, payer_pubkey: payer, confirmed_at } = receipt
  return {
    network,
    tx,
    asset,
    pay_req_id,
    payer,
    received: receipt.received_raw ?? receipt.paid_raw,
    noted_at: confirmed_at,
  }
}

/** True once the payment is in the database and the journal. */
async function recordNow(context: Context, payment: UnclaimedPaymentTable): Promise<boolean> {
  const { isRecorded, isNew } = await context.database.commit((tx, recordDocuments) =>
    recordUnclaimed(tx, recordDocuments, payment),
  )
  if (isRecorded && !isNew) await requireRecorded(context, payment)
  return isRecorded
}

/** Call before a caller learns of a payment that another process has recorded. */
export function requireRecorded({ continuity }: Context, payment: UnclaimedPaymentTable): Promise<void> {
  return continuity.requireWritten({ kind: 'unclaimed', key: unclaimedKey(payment) })
}

interface Shown {
  request: StoredQuote
  leg: QuotedLeg
  /** The quotes that the transaction may name. */
  payReqIds: readonly string[]
  payment: ChainPayment
}

function unclaimed(
  context: Context,
  { request, leg, payment }: Omit<Shown, 'payReqIds'>,
  reason: UnclaimedPaymentTable['reason'],
): UnclaimedPaymentTable {
  const payer = leg.network.family === 'evm' ? payment.payer.toLowerCase() : payment.payer
  return {
    network: leg.network.name,
    tx: payment.tx,
    asset: leg.ticker,
    pay_req_id: request.pay_req_id,
    reason,
    payer,
    received: String(payment.received),
    noted_at: isoSeconds(unixNow(context)),
  }
}

/** Records a rejected payment that names its quote, because no other quote can claim it. */
export async function recordRefused(
  context: Context,
  { request, leg, payReqIds, payment, reason }: RefusedPayment,
): Promise<boolean> {
  if (reason !== 'after_quote' && reason !== 'amount_too_small') return false
  if (!payment || !names(payment, payReqIds)) return false
  return recordNow(context, unclaimed(context, { request, leg, payment }, reason))
}

function names({ references }: ChainPayment, payReqIds: readonly string[]): boolean {
  return references.length > 0 && nameOnly(payReqIds, references)
}

/** Records a payment of a quote that another transaction has paid, if it names the quote or would have paid it. */
export async function recordSecond(context: Context, shown: Shown): Promise<boolean> {
  const { request, leg, payReqIds, payment } = shown
  const { created_at: createdAt, expires_at: expiresAt } = request
  const { timeSkewSeconds: skewSeconds } = context.config.payments
  const terms = { amount: leg.amount, payReqIds, createdAt, expiresAt, skewSeconds, now: unixNow(context) }
  if (!judgePayment(payment, terms).paid && !names(payment, payReqIds)) return false
  return recordNow(context, unclaimed(context, shown, 'quote_already_paid'))
}

/** No transaction has this id. Clients send it to query whether a quote is paid. */
const NO_TRANSACTION = /^(?:0x0{64}|1{64})$/

/**
 * The error for a caller who confirms a quote that another transaction has paid: `refusal`, and whether the chain shows
 * a second payment, which is recorded. Reveals nothing about the first one.
 */
export async function refusalOfSecond(
  context: Context,
  refusal: unknown,
  { pay_req_id, proof: { tx }, ...choice }: ShownPayment,
): Promise<unknown> {
  if (!isQuotePaid(refusal) || tx === null || NO_TRANSACTION.test(tx)) return refusal
  const request = await findPayRequest(context.database.db, pay_req_id)
  const leg = request && legNamed(request, choice)
  if (!leg || !(await context.continuity.isCurrent())) return refusal
  const payment = await context.sales.reader(leg.network).read(tx, leg)
  if (payment.outcome === 'rejected') return refusal
  if (payment.outcome !== 'found') return secondPaymentUnseen()
  return (await recordSecond(context, { request, leg, payReqIds: [pay_req_id], payment }))
    ? secondPaymentRefused()
    : refusal
}

function legNamed({ quote }: PayRequest, choice: LegChoice): QuotedLeg | null {
  try {
    return paidLeg((JSON.parse(quote) as Quote).accepts, choice)
  } catch (error) {
    if (error instanceof ServiceError) return null
    throw error
  }
}
