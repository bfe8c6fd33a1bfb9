// Claims of payments: a chain transaction pays for its quotes once, and each quote gets one receipt.

import { batch } from '@svc/concurrency/sharing'
import type { ChainPayment } from '@svc/payments/payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused } from '@svc/sales/errors'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { PaymentTransactionTable, Schema } from '../db/schema.ts'
import { renewLocker } from '../lockers/renew-locker.ts'
import {
  deletePaymentTransaction,
  findAuthorizationOwners,
  findReceiptOfRequest,
  insertPaymentTransactions,
  insertReceipt,
  insertReceipts,
  lockPaymentTransaction,
  setAmounts,
  takeAuthorization,
} from './store.ts'

interface Claim {
  /** Not yet written. */
  receipt: SignedReceipt
  payment: ChainPayment
  /** The one in the transaction that was signed for the quote, where it pays instead of the whole transaction. */
  authorization?: string
  /** What else a new receipt brings about, with it or not at all. */
  andThen?: (tx: Transaction<Schema>) => Promise<unknown>
}

interface Claimed {
  receipt: SignedReceipt
  isNew: boolean
}

/** Claims that arrive together share a commit. */
export function createClaims(context: Context): (claim: Claim) => Promise<Claimed> {
  const claimInBatch = batch(async (claims: Claim[]) => {
    if (claims.length > 1 && (await claimTogether(context, claims)))
      return claims.map(({ receipt }) => Promise.resolve({ receipt, isNew: true }))
    const alone: Promise<Claimed>[] = []
    for (const claim of claims) {
      const claimed = claimPayment(context, claim)
      alone.push(claimed)
      await claimed.catch(() => {})
    }
    return alone
  })
  return async (claim) => claimInBatch(claim)
}

/**
 * Writes all receipts, or nothing when one of them is in doubt: its quote is paid, its transaction is claimed, or it is
 * not simply a quote for a new locker, paid by a transaction. Then each has to be claimed alone.
 */
async function claimTogether(context: Context, claims: readonly Claim[]): Promise<boolean> {
  if (claims.some(({ payment, receipt }) => payment.authorizations.length > 0 || receipt.extends !== undefined))
    return false
  const entries = claims.map(({ receipt }) => ({ ...entryOf('single', receipt), bound: receipt.paid_raw }))
  if (entries.some(({ bound, received }) => BigInt(bound) > BigInt(received))) return false
  const receipts = claims.map(({ receipt }) => receipt)
  try {
    await context.database.db.transaction().execute(async (tx) => {
      // In the same order as everywhere: claims of another process would deadlock otherwise.
      const booked = await insertPaymentTransactions(
        tx,
        inOrder(entries, (entry) => `${entry.network} ${entry.tx}`),
      )
      if (booked < claims.length) throw new Error('a transaction is claimed')
      const written = await insertReceipts(
        tx,
        inOrder(receipts, ({ pay_req_id }) => pay_req_id),
      )
      if (written < claims.length) throw new Error('a quote is paid')
      for (const { receipt_id } of receipts) await context.queue.enqueue(tx, 'attest-payment', { receipt_id })
    })
    return true
  } catch {
    // What keeps one claim from being written must not keep the others. If all were written and only the connection
    // broke, claiming alone finds the receipts.
    return false
  }
}

function inOrder<T>(rows: readonly T[], keyOf: (row: T) => string): T[] {
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Turns a pending quote into a paid one, by a whole transaction or by the one authorization in it that was signed for the
 * quote. The claim on the transaction and the receipt are one database transaction. Of concurrent calls with one payment,
 * one writes the receipt and the others return it. A second payment of the quote is refused and left unclaimed.
 */
export async function claimPayment(context: Context, claim: Claim): Promise<Claimed> {
  const { receipt, payment, authorization, andThen } = claim
  const kind = authorization === undefined ? 'single' : 'authorizations'
  return context.database.db.transaction().execute(async (tx) => {
    const [written] = await bookReceipts(tx, kind, [receipt], payment.authorizations)
    if (written) {
      await renewLocker(tx, receipt, paidAt(context, payment))
      await andThen?.(tx)
      await context.queue.enqueue(tx, 'attest-payment', { receipt_id: receipt.receipt_id })
      return { receipt, isNew: true }
    }
    const existing = await findReceiptOfRequest(tx, receipt.pay_req_id)
    if (!existing) throw paymentRefused('transaction_already_used')
    if (existing.tx_hash !== receipt.tx_hash) throw paymentRefused('quote_already_paid')
    return { receipt: existing, isNew: false }
  })
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
  tx: Transaction<Schema>,
  kind: Kind,
  receipts: readonly SignedReceipt[],
  authorizations: readonly string[],
): Promise<SignedReceipt[]> {
  const [first] = receipts
  if (!first || !(await mayUse(tx, kind, receipts, authorizations))) return []
  const entry = await openEntry(tx, kind, first)
  if (!entry) return []
  const written: SignedReceipt[] = []
  // Always in the same order: concurrent batches with quotes in common would deadlock otherwise.
  for (const receipt of inOrder(receipts, ({ pay_req_id }) => pay_req_id)) {
    if (await insertReceipt(tx, receipt)) written.push(receipt)
  }
  const bound = written.reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), BigInt(entry.bound))
  if (bound > BigInt(entry.received)) throw paymentRefused('amount_too_small')
  if (entry.isUnrecorded) return written
  // With nothing bound, other transactions paid these quotes first, and this one stays free for other quotes.
  if (bound === 0n) await deletePaymentTransaction(tx, entry)
  else if (written.length > 0) await setAmounts(tx, { ...entry, bound: String(bound) })
  return written
}

/** An authorization that was signed for one quote pays no other, no matter who sent or names it (T-46). */
async function mayUse(
  tx: Transaction<Schema>,
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

interface Entry extends PaymentTransactionTable {
  isUnrecorded?: true
}

/** The row of a chain transaction, locked until the database transaction ends; null when the transaction is taken. */
async function openEntry(tx: Transaction<Schema>, kind: Kind, receipt: SignedReceipt): Promise<Entry | null> {
  const entry = entryOf(kind, receipt)
  if ((await insertPaymentTransactions(tx, [entry])) > 0) return entry
  if (kind === 'single') return null
  const known = await lockPaymentTransaction(tx, entry)
  // Another asset in the same transaction is other money. The authorization has a row of its own, and is taken once.
  if (kind === 'authorizations' && known.asset !== entry.asset) return { ...entry, isUnrecorded: true }
  if (known.kind !== kind || known.asset !== entry.asset) return null
  if (kind === 'authorizations') return { ...known, received: String(BigInt(known.received) + BigInt(entry.received)) }
  // Another asset or amount means another destination, whose money this row does not count.
  return known.received === entry.received ? known : null
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
