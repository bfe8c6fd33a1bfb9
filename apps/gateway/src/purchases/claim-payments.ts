// Claims of payments: a chain transaction pays for its quotes once, and each quote gets one receipt.

import type { ChainPayment } from '@svc/payments/payment'
import { paymentRefused, secondPaymentRefused } from '@svc/payments/selling/errors'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Context, unixNow } from '../context.ts'
import type { Note, Noted } from '../continuity/noted.ts'
import type { PaymentTransactionTable, Tx } from '../db/schema.ts'
import { renewLocker } from '../lockers/renew-locker.ts'
import {
  claimedAmount,
  deletePaymentTransaction,
  findAuthorizationOwners,
  findReceiptOfRequest,
  findRefunds,
  insertPaymentTransaction,
  insertReceipt,
  lockPaymentTransaction,
  takeAuthorization,
  updatePaymentTransaction,
} from './store.ts'
import { noteOverpaid, noteUnclaimed, requireNoted, secondPaymentOf } from './unclaimed/note-payment.ts'

export interface Claim {
  /** Not yet written. */
  receipt: SignedReceipt
  payment: ChainPayment
  /** The one in the transaction that was signed for the quote, where it pays instead of the whole transaction. */
  authorization?: string
  /** What else a new receipt brings about, with it or not at all. */
  andThen?: (tx: Tx, note: Note) => Promise<unknown>
}

interface Claimed {
  receipt: SignedReceipt
  isNew: boolean
}

/**
 * Turns a pending quote into a paid one, by a whole transaction or by the one authorization in it that was signed for the
 * quote. The claim on the transaction and the receipt are one database transaction. Of concurrent calls with one payment,
 * one writes the receipt and the others return it. A second payment of the quote is refused, and noted for refund.
 */
export async function claimPayment(context: Context, claim: Claim): Promise<Claimed> {
  const claimed = await context.database.commit(async (tx, note) => {
    const written = await writeClaim(context, { tx, note }, claim)
    if (written?.isNew) note(noteOfClaim(claim))
    return written ?? noteUnclaimed(tx, note, secondPaymentOf(claim.receipt))
  })
  if ('isNoted' in claimed) {
    if (claimed.isNoted && !claimed.isNew) await requireNoted(context, secondPaymentOf(claim.receipt))
    throw claimed.isNoted ? secondPaymentRefused() : paymentRefused('quote_already_paid')
  }
  if (!claimed.isNew) await context.continuity.requireWritten(noteOfClaim(claimed))
  return claimed
}

/** Null where another transaction has paid the quote: nothing is written. */
async function writeClaim(
  context: Context,
  { tx, note }: { tx: Tx; note: Note },
  claim: Claim,
): Promise<Claimed | null> {
  const { receipt, payment, authorization, andThen } = claim
  const kind = authorization === undefined ? 'single' : 'authorizations'
  const [written] = await bookReceipts(tx, kind, [receipt], payment.authorizations)
  if (written) {
    await renewLocker(tx, receipt, paidAt(context, payment))
    await andThen?.(tx, note)
    await context.queue.enqueue(tx, 'attest-payment', { receipt_id: receipt.receipt_id })
    return { receipt, isNew: true }
  }
  const existing = await findReceiptOfRequest(tx, receipt.pay_req_id)
  if (!existing) throw paymentRefused('transaction_already_used')
  return existing.tx_hash === receipt.tx_hash ? { receipt: existing, isNew: false } : null
}

function noteOfClaim({ receipt }: Pick<Claim, 'receipt'>): Noted {
  return { kind: 'receipt', key: receipt.receipt_id }
}

/** A payment counts from when it was made, however late it is confirmed (AMB-06). */
function paidAt(context: Context, { blockTime }: ChainPayment): number {
  const now = unixNow(context)
  return Math.min(blockTime ?? now, now)
}

type Kind = PaymentTransactionTable['kind']

/**
 * Writes the receipts of one chain transaction and returns the new ones. A quote that has a receipt gets no second one.
 * A single purchase takes the whole transaction; batches share it until its amount is used up; authorizations take what
 * each of them paid (T-01). If the transaction or an authorization in it is taken, nothing is written.
 */
export async function bookReceipts(
  tx: Tx,
  kind: Kind,
  receipts: readonly SignedReceipt[],
  authorizations: readonly string[],
): Promise<SignedReceipt[]> {
  const [first] = receipts
  if (!first || !(await mayUse(tx, kind, receipts, authorizations))) return []
  const entry = await openEntry(tx, kind, receipts)
  if (!entry) return []
  const written: SignedReceipt[] = []
  // Always in the same order: concurrent batches with quotes in common would deadlock otherwise.
  for (const receipt of receipts.toSorted((a, b) => (a.pay_req_id < b.pay_req_id ? -1 : 1))) {
    if (await insertReceipt(tx, receipt)) written.push(receipt)
  }
  const paid = sumOf(written)
  if (entry.unrefunded !== null && paid > entry.unrefunded) throw paymentRefused('transaction_already_used')
  const { row, isNew, isRecorded } = entry
  const bound = (isNew ? 0n : BigInt(row.bound)) + paid
  if (bound > BigInt(row.received)) throw paymentRefused('amount_too_small')
  // With nothing bound, other transactions paid these quotes first, and this one stays free for other quotes.
  if (bound === 0n && isNew) await deletePaymentTransaction(tx, row)
  else if (isRecorded && (isNew ? bound !== BigInt(row.bound) : written.length > 0))
    await updatePaymentTransaction(tx, { ...row, bound: String(bound) })
  if (isNew && written[0]) await noteOverpaid(tx, written[0], bound)
  return written
}

function sumOf(receipts: readonly SignedReceipt[]): bigint {
  return receipts.reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), 0n)
}

/** An authorization that was signed for one quote pays no other, no matter who sent or names it (T-46). */
async function mayUse(
  tx: Tx,
  kind: Kind,
  receipts: readonly SignedReceipt[],
  authorizations: readonly string[],
): Promise<boolean> {
  const [{ network, pay_req_id }] = receipts as readonly [SignedReceipt, ...SignedReceipt[]]
  if (kind === 'authorizations') {
    for (const authorization_id of authorizations)
      if (!(await takeAuthorization(tx, { network, authorization_id, pay_req_id }))) return false
    return true
  }
  const owners = await findAuthorizationOwners(tx, network, authorizations)
  return owners.every((owner) => receipts.some((receipt) => receipt.pay_req_id === owner))
}

interface Entry {
  /** A new one is bound by all receipts. */
  row: PaymentTransactionTable
  isNew: boolean
  /** False where the row counts another asset. */
  isRecorded: boolean
  /** What refunds of the asset leave to receipts; null without refunds (T-83). */
  unrefunded: bigint | null
}

/** The row of a chain transaction, locked until the database transaction ends; null when the transaction is taken. */
async function openEntry(tx: Tx, kind: Kind, receipts: readonly SignedReceipt[]): Promise<Entry | null> {
  const row = entryOf(kind, receipts[0] as SignedReceipt)
  const full = { ...row, bound: String(sumOf(receipts)) }
  if (await insertPaymentTransaction(tx, full)) return { row: full, isNew: true, isRecorded: true, unrefunded: null }
  const known = await lockPaymentTransaction(tx, row)
  const entry = { isNew: false, isRecorded: true, unrefunded: await unrefunded(tx, row) }
  if (known.kind === 'refund') return { ...entry, row }
  if (kind === 'single' || known.kind === 'lost') return null
  // Another asset in the same transaction is other money. The authorization has a row of its own, and is taken once.
  if (kind === 'authorizations' && known.asset !== row.asset) return { ...entry, row, isRecorded: false }
  if (known.kind !== kind || known.asset !== row.asset) return null
  if (kind === 'authorizations') {
    return { ...entry, row: { ...known, received: String(BigInt(known.received) + BigInt(row.received)) } }
  }
  // Another asset or amount means another destination, whose money this row does not count.
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
