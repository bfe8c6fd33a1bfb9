// Payments of known quotes that get no receipt: a second one of a paid quote, one that landed too late, one that is too
// small. The operator returns them, from one list (T-205). What is noted is proven by the chain to have paid a leg of its
// quote, so a stranger pays for each row; a quote has at most a few.

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

export interface Noting {
  /** False where receipts have it, or the quote has too many. */
  isNoted: boolean
  isNew: boolean
}

/** In the transaction of the operation that found it. */
export async function noteUnclaimed(tx: Tx, note: RecordDocuments, payment: UnclaimedPaymentTable): Promise<Noting> {
  if (await isClaimed(tx, payment)) return { isNoted: false, isNew: false }
  if (await hasUnclaimed(tx, payment)) return { isNoted: true, isNew: false }
  if ((await countUnclaimed(tx, payment.pay_req_id)) >= MAX_OF_QUOTE) return { isNoted: false, isNew: false }
  const isNew = await insertUnclaimed(tx, payment)
  if (isNew) note({ kind: 'unclaimed', key: unclaimedKey(payment) })
  return { isNoted: true, isNew }
}

/** A second payment, from the receipt that it would have got. */
export function secondPaymentOf(receipt: SignedReceipt): UnclaimedPaymentTable {
  return { ...paymentOf(receipt), reason: 'quote_already_paid' }
}

/** Whole units are paid exactly; who rounds up a little means no more by it. */
const ROUNDING = 100n

/** What a receipt leaves of a payment, in its own transaction, without a notice. */
export async function noteOverpaid(tx: Tx, receipt: SignedReceipt, paid: bigint): Promise<void> {
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

/** True once it is in the database and the journal. */
async function noteNow(context: Context, payment: UnclaimedPaymentTable): Promise<boolean> {
  const { isNoted, isNew } = await context.database.commit((tx, note) => noteUnclaimed(tx, note, payment))
  if (isNoted && !isNew) await requireNoted(context, payment)
  return isNoted
}

/** Before somebody learns of what another process has noted. */
export function requireNoted({ continuity }: Context, payment: UnclaimedPaymentTable): Promise<void> {
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

/** Notes a payment that was refused, where it names its quote: no other quote can take it. */
export async function noteRefused(
  context: Context,
  { request, leg, payReqIds, payment, reason }: RefusedPayment,
): Promise<boolean> {
  if (reason !== 'after_quote' && reason !== 'amount_too_small') return false
  if (!payment || !names(payment, payReqIds)) return false
  return noteNow(context, unclaimed(context, { request, leg, payment }, reason))
}

function names({ references }: ChainPayment, payReqIds: readonly string[]): boolean {
  return references.length > 0 && nameOnly(payReqIds, references)
}

/** Notes a payment of a quote that another transaction has paid. It names the quote, or would have paid it. */
export async function noteSecond(context: Context, shown: Shown): Promise<boolean> {
  const { request, leg, payReqIds, payment } = shown
  const { created_at: createdAt, expires_at: expiresAt } = request
  const { timeSkewSeconds: skewSeconds } = context.config.payments
  const terms = { amount: leg.amount, payReqIds, createdAt, expiresAt, skewSeconds, now: unixNow(context) }
  if (!judgePayment(payment, terms).paid && !names(payment, payReqIds)) return false
  return noteNow(context, unclaimed(context, shown, 'quote_already_paid'))
}

/** No transaction has this id. Clients name it to ask whether a quote is paid. */
const NO_TRANSACTION = /^(?:0x0{64}|1{64})$/

/**
 * What to answer who shows a transaction for a quote that another one has paid: `refusal`, and whether the chain shows a
 * second payment, which is noted. Nothing is told of the first one.
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
  return (await noteSecond(context, { request, leg, payReqIds: [pay_req_id], payment }))
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
