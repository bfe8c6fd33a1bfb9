// Claims payments: a chain transaction pays for its quotes once, and each quote gets one receipt.

import type { Quote } from '@svc/api/purchases'
import type { ChainPayment } from '@svc/payments/payment'
import type { QuotedLeg } from '@svc/payments/selling/confirm'
import { paymentRefused, secondPaymentRefused, someQuotesPaid } from '@svc/payments/selling/errors'
import { newReceipt } from '@svc/payments/selling/new-receipt'
import { toHex } from '@svc/protocol/bytes'
import { receiptMessage, type SignedReceipt, signedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import type { DocumentId, RecordDocuments } from '../continuity/document-id.ts'
import type { PaymentTransactionTable, Tx } from '../db/schema.ts'
import { createLocker, type LockerCreation } from '../lockers/create-locker.ts'
import { renewLocker } from './renewal.ts'
import {
  assignAuthorization,
  claimedAmount,
  deletePaymentTransaction,
  findAuthorizationOwners,
  findReceiptsOfRequests,
  findRefunds,
  insertPaymentTransaction,
  insertReceipt,
  lockPaymentTransaction,
  type PayRequest,
  updatePaymentTransaction,
} from './store.ts'
import {
  type RecordResult,
  recordOverpaid,
  recordUnclaimed,
  requireRecorded,
  secondPaymentOf,
} from './unclaimed/record-payment.ts'

/** Proves that one chain transaction has paid quotes. Each payment protocol builds it from its clients' input. */
export interface PaymentProof {
  /** The id of the transaction. */
  tx: string
  /**
   * Whether it is claimed as a whole, shared with other batches, or claimed only by the authorization that was signed
   * for the quote.
   */
  kind: Kind
  /** The payment on chain; null when each quote already has a receipt. */
  payment: ChainPayment | null
  /** In the order of the answer. */
  quotes: readonly [PaidQuote, ...PaidQuote[]]
}

type Kind = PaymentTransactionTable['kind']

interface PaidQuote {
  request: PayRequest
  /** The leg that was paid; null when the quote already has a receipt. */
  leg: QuotedLeg | null
}

/** Additional effects of the same commit, all or nothing. */
export interface Consequences {
  /** Throws if the caller may not receive the receipt. */
  require?: (receipt: SignedReceipt) => void
  /** Opens the locker of each receipt for its payer, including receipts of earlier calls. */
  lockers?: { tags: readonly string[] }
  /** Runs for each receipt that this call writes. */
  andThen?: (tx: Tx) => Promise<unknown>
}

interface Claimed {
  receipt: SignedReceipt
  /** Whether this call wrote the receipt. */
  isNew: boolean
  /** Null when no locker was requested. */
  locker: LockerCreation | null
}

/**
 * Turns pending quotes into paid ones. One commit contains the claim on the transaction, the receipts, and the lockers
 * that they open or renew. Either all receipts are written or none. Of concurrent calls with one payment, one writes
 * the receipt and the others return it. A second payment of paid quotes is rejected, and recorded for refund in the
 * same commit.
 */
export async function claim(
  context: Context,
  proof: PaymentProof,
  consequences: Consequences = {},
): Promise<[Claimed, ...Claimed[]]> {
  const { database, continuity } = context
  const receipts = await signReceipts(context, proof)
  const claimed = await database.commit(async (tx, recordDocuments): Promise<Claimed[] | RecordResult> => {
    const booked = await bookReceipts(tx, proof.kind, receipts, proof.payment?.authorizations ?? [])
    const written = new Map(booked.map((receipt) => [receipt.pay_req_id, receipt]))
    const earlier = await findEarlier(tx, proof, written)
    const receiptOf = (id: string) => written.get(id) ?? earlier.get(id)
    const done: Claimed[] = []
    for (const { request } of proof.quotes) {
      const isNew = written.has(request.pay_req_id)
      const receipt = receiptOf(request.pay_req_id)
      if (!receipt) throw paymentRefused('transaction_already_used')
      consequences.require?.(receipt)
      if (receipt.tx_hash !== proof.tx) return recordSecond(tx, recordDocuments, proof, receipts, receiptOf)
      if (isNew) {
        recordDocuments(receiptDocument(receipt))
        await renewLocker(tx, receipt, paidAt(context, proof.payment))
        await consequences.andThen?.(tx)
        await context.queue.enqueue(tx, 'attest-payment', { receipt_id: receipt.receipt_id })
      }
      const locker = consequences.lockers
        ? await createLocker(tx, recordDocuments, {
            ...lockerTerms(context),
            ...consequences.lockers,
            receipt,
            request,
          })
        : null
      done.push({ receipt, isNew, locker })
    }
    return done
  })
  if ('isRecorded' in claimed) return refuseSecond(context, claimed, receipts)
  await continuity.requireWritten(...claimed.flatMap(({ isNew, receipt }) => (isNew ? [] : receiptDocument(receipt))))
  await continuity.requireWritten(...claimed.flatMap(({ locker }) => existingLockerDocuments(locker)))
  return claimed as [Claimed, ...Claimed[]] // a proof covers at least one quote
}

/** The receipts are not stored yet. */
function signReceipts(context: Context, { payment, quotes }: PaymentProof): Promise<SignedReceipt[]> {
  return Promise.all(
    quotes.flatMap(({ request, leg }) => (leg && payment ? signReceipt(context, request, leg, payment) : [])),
  )
}

async function signReceipt(
  context: Context,
  { pay_req_id: payReqId, units, quote }: PayRequest,
  leg: QuotedLeg,
  payment: ChainPayment,
): Promise<SignedReceipt> {
  const { renewal } = (JSON.parse(quote) as Quote).extensions.svc
  const purchase = renewal ? { extends: renewal.receipt_id } : { proofId: toHex(context.randomBytes(16)) }
  const key = await context.statementKeys.current()
  const receipt = newReceipt({ payReqId, units, leg, payment, ...purchase, confirmedAt: unixNow(context) })
  return signedReceipt(receipt, key.publicKey, await key.sign(receiptMessage(receipt)))
}

/**
 * Writes the receipts of one chain transaction and returns the new ones. A quote that has a receipt gets no second one.
 * A single purchase claims the whole transaction; batches share it until its amount is used up; an authorization claims
 * its own amount (T-01). If the transaction or one of its authorizations is already claimed, nothing is written.
 */
export async function bookReceipts(
  tx: Tx,
  kind: Kind,
  receipts: readonly SignedReceipt[],
  authorizations: readonly string[],
): Promise<SignedReceipt[]> {
  const [first] = receipts
  if (!first || !(await isUnclaimed(tx, kind, receipts, authorizations))) return []
  const entry = await openEntry(tx, kind, receipts)
  if (!entry) return []
  const written: SignedReceipt[] = []
  // A fixed order prevents deadlocks between concurrent batches with common quotes.
  for (const receipt of receipts.toSorted((a, b) => (a.pay_req_id < b.pay_req_id ? -1 : 1))) {
    if (await insertReceipt(tx, receipt)) written.push(receipt)
  }
  const paid = sumOf(written)
  if (entry.unrefunded !== null && paid > entry.unrefunded) throw paymentRefused('transaction_already_used')
  const { row, isNew, isRecorded } = entry
  const bound = (isNew ? 0n : BigInt(row.bound)) + paid
  if (bound > BigInt(row.received)) throw paymentRefused('amount_too_small')
  // If no receipt was written, other transactions paid these quotes first, and this one stays available for other
  // quotes.
  if (bound === 0n && isNew) await deletePaymentTransaction(tx, row)
  else if (isRecorded && (isNew ? bound !== BigInt(row.bound) : written.length > 0))
    await updatePaymentTransaction(tx, { ...row, bound: String(bound) })
  if (isNew && written[0]) await recordOverpaid(tx, written[0], bound)
  return written
}

function sumOf(receipts: readonly SignedReceipt[]): bigint {
  return receipts.reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), 0n)
}

/** An authorization that was signed for one quote pays no other, no matter who sends or names it (T-46). */
async function isUnclaimed(
  tx: Tx,
  kind: Kind,
  receipts: readonly SignedReceipt[],
  authorizations: readonly string[],
): Promise<boolean> {
  const [{ network, pay_req_id }] = receipts as readonly [SignedReceipt, ...SignedReceipt[]]
  if (kind === 'authorizations') {
    for (const authorization_id of authorizations)
      if (!(await assignAuthorization(tx, { network, authorization_id, pay_req_id }))) return false
    return true
  }
  const owners = await findAuthorizationOwners(tx, network, authorizations)
  return owners.every((owner) => receipts.some((receipt) => receipt.pay_req_id === owner))
}

interface Entry {
  /** All receipts count towards a new entry. */
  row: PaymentTransactionTable
  isNew: boolean
  /** False when the row counts another asset. */
  isRecorded: boolean
  /** The amount that refunds of the asset leave for receipts; null without refunds (T-205). */
  unrefunded: bigint | null
}

/**
 * The row of a chain transaction, locked until the database transaction ends; null when the transaction is already
 * claimed.
 */
async function openEntry(tx: Tx, kind: Kind, receipts: readonly SignedReceipt[]): Promise<Entry | null> {
  const row = entryOf(kind, receipts[0] as SignedReceipt)
  const full = { ...row, bound: String(sumOf(receipts)) }
  if (await insertPaymentTransaction(tx, full)) return { row: full, isNew: true, isRecorded: true, unrefunded: null }
  const known = await lockPaymentTransaction(tx, row)
  const entry = { isNew: false, isRecorded: true, unrefunded: await unrefunded(tx, row) }
  if (known.kind === 'refund') return { ...entry, row }
  if (kind === 'single' || known.kind === 'lost') return null
  // Another asset in the same transaction is separate money. The authorization has its own row and is claimed once.
  if (kind === 'authorizations' && known.asset !== row.asset) return { ...entry, row, isRecorded: false }
  if (known.kind !== kind || known.asset !== row.asset) return null
  if (kind === 'authorizations') {
    return { ...entry, row: { ...known, received: String(BigInt(known.received) + BigInt(row.received)) } }
  }
  // Another asset or amount implies another destination, whose money this row does not count.
  return known.received === row.received ? { ...entry, row: known } : null
}

async function unrefunded(tx: Tx, payment: PaymentTransactionTable): Promise<bigint | null> {
  const refunds = (await findRefunds(tx, payment)).filter(({ asset }) => asset === payment.asset)
  const [first] = refunds
  if (!first) return null
  const refunded = refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  return BigInt(first.received) - refunded - (await claimedAmount(tx, payment))
}

function entryOf(kind: Kind, receipt: SignedReceipt): PaymentTransactionTable {
  return {
    network: receipt.network,
    tx: receipt.tx_hash,
    kind,
    payer: receipt.payer_pubkey,
    asset: receipt.pay_asset,
    received: receipt.received_raw ?? receipt.paid_raw,
    bound: '0',
  }
}

/** A payment counts from the time it was made, however late it is confirmed (AMB-06). */
function paidAt(context: Context, payment: ChainPayment | null): number {
  const now = unixNow(context)
  return Math.min(payment?.blockTime ?? now, now)
}

/** Receipts that other or earlier calls wrote, by quote. */
async function findEarlier(tx: Tx, { quotes }: PaymentProof, written: ReadonlyMap<string, SignedReceipt>) {
  const ids = quotes.map(({ request }) => request.pay_req_id).filter((id) => !written.has(id))
  const found = ids.length === 0 ? [] : await findReceiptsOfRequests(tx, ids)
  return new Map(found.map((receipt) => [receipt.pay_req_id, receipt]))
}

/**
 * Other transactions have paid some of the quotes. If they have paid all of them, this is a second payment. Otherwise
 * nothing is written, because the payer can still buy the remaining quotes with it.
 */
function recordSecond(
  tx: Tx,
  recordDocuments: RecordDocuments,
  { tx: shown, quotes }: PaymentProof,
  [unwritten]: readonly SignedReceipt[],
  receiptOf: (payReqId: string) => SignedReceipt | undefined,
): Promise<RecordResult> {
  const ids = quotes.map(({ request }) => request.pay_req_id)
  const paidOtherwise = ids.filter((id) => (receiptOf(id)?.tx_hash ?? shown) !== shown)
  if (paidOtherwise.length < ids.length) throw someQuotesPaid(paidOtherwise)
  if (!unwritten) throw paymentRefused('quote_already_paid')
  return recordUnclaimed(tx, recordDocuments, secondPaymentOf(unwritten))
}

/** Call after the commit: the answer promises a refund, which must be durable. */
async function refuseSecond(
  context: Context,
  { isRecorded, isNew }: RecordResult,
  [unwritten]: readonly SignedReceipt[],
): Promise<never> {
  if (isRecorded && !isNew && unwritten) await requireRecorded(context, secondPaymentOf(unwritten))
  throw isRecorded ? secondPaymentRefused() : paymentRefused('quote_already_paid')
}

function lockerTerms(context: Context) {
  return { createdAt: unixNow(context), maxPerOwner: context.config.payments.maxLockersPerOwner }
}

function receiptDocument({ receipt_id }: SignedReceipt): DocumentId {
  return { kind: 'receipt', key: receipt_id }
}

function existingLockerDocuments(locker: LockerCreation | null): DocumentId[] {
  return locker?.outcome === 'existing' ? [{ kind: 'locker', key: locker.locker.locker_id }] : []
}
