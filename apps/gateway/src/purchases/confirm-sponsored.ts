// Purchases that a sponsor confirms for the wallet that paid: receipts and lockers in one step.

import type { Body } from '@svc/api/endpoint'
import type { LockerRecord } from '@svc/api/lockers'
import type { Quote } from '@svc/api/purchases'
import type { SponsoredBatch, SponsoredConfirmation, sponsoredConfirm, sponsoredConfirmBatch } from '@svc/api/sponsored'
import { ServiceError } from '@svc/http-service/service-error'
import { EVM, PRIMARY } from '@svc/payments/networks'
import {
  isQuotePaid,
  paymentRefused,
  payReqNotFound,
  secondPaymentRefused,
  secondPaymentUnseen,
  someQuotesPaid,
} from '@svc/payments/selling/errors'
import { inQuoteTime, transactionId } from '@svc/payments/selling/read-payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { receiptIsRenewal } from '../auth/errors.ts'
import { type Context, unixNow } from '../context.ts'
import type { Note, Noted } from '../continuity/noted.ts'
import type { Db, Locker, Tx } from '../db/schema.ts'
import { createLocker, type LockerCreation } from '../lockers/create-locker.ts'
import { lockerRecord } from '../lockers/locker-record.ts'
import { bookReceipts } from './claim-payments.ts'
import { confirmation } from './confirm-payment.ts'
import { newReceipt } from './new-receipt.ts'
import { findPayment, requireOneNetwork, type SponsoredTransaction } from './sponsored-payment.ts'
import { findPayRequests, findReceiptsOfRequests, type PayRequest } from './store.ts'
import { noteSecond } from './unclaimed/note-payment.ts'

interface SponsoredOrder {
  /** A single purchase takes the whole transaction; a batch leaves the rest of it to other batches. */
  kind: 'single' | 'batch'
  payReqIds: readonly string[]
  tx: string
  ownerIdentity: string
  tags: readonly string[]
}

interface SponsoredPurchase {
  receipt: SignedReceipt
  request: PayRequest
  /** Whether this call wrote the receipt. */
  isNew: boolean
  locker: LockerCreation
}

export async function confirmSponsored(
  context: Context,
  body: Body<typeof sponsoredConfirm>,
): Promise<SponsoredConfirmation> {
  const [purchase] = await claimSponsored(context, {
    kind: 'single',
    payReqIds: [body.pay_req_id],
    tx: transactionId({}, body.tx_sig),
    ownerIdentity: body.owner_identity,
    tags: body.tags ?? [],
  })
  const { receipt, isNew, locker } = purchase as SponsoredPurchase // one quote, one purchase
  if (locker.outcome === 'refused') throw locker.refusal
  return {
    ...confirmation(receipt, !isNew),
    locker: recordFor(locker.locker, locker.outcome),
    locker_id: locker.locker.locker_id,
    already_provisioned: locker.outcome === 'existing',
    owner_identity: receipt.payer_pubkey,
  }
}

/** Repeated, the sponsor does not learn by what the owner has the public link opened since (T-49). */
function recordFor(locker: Locker, outcome: 'created' | 'existing'): LockerRecord {
  const { public_link, ...record } = lockerRecord(locker)
  return outcome === 'created' && public_link ? { ...record, public_link } : record
}

export async function confirmSponsoredBatch(
  context: Context,
  body: Body<typeof sponsoredConfirmBatch>,
): Promise<SponsoredBatch> {
  const tx = transactionId({}, body.tx_sig)
  const purchases = await claimSponsored(context, {
    kind: 'batch',
    payReqIds: body.pay_req_ids,
    tx,
    ownerIdentity: body.owner_identity,
    tags: body.tags ?? [],
  })
  const results = purchases.map(positionResult)
  const succeeded = results.filter(({ ok }) => ok).length
  const { payer_pubkey, network } = (purchases[0] as SponsoredPurchase).receipt // a batch has at least one quote
  return {
    ok: succeeded === results.length,
    tx_sig: tx,
    owner_identity: payer_pubkey,
    network,
    total: results.length,
    succeeded,
    failed: results.length - succeeded,
    results,
  }
}

function positionResult({ receipt, locker }: SponsoredPurchase, position: number) {
  const isRefused = locker.outcome === 'refused'
  return {
    position,
    pay_req_id: receipt.pay_req_id,
    ok: !isRefused,
    receipt_id: receipt.receipt_id,
    locker_id: isRefused ? null : locker.locker.locker_id,
    already_provisioned: locker.outcome === 'existing',
    error: isRefused ? locker.refusal.code : null,
  }
}

/**
 * The purchases that one transaction paid, in the order of the quotes. Either all receipts are written or none. Lockers
 * are created with them, unless the owner has reached the limit. A repeated call completes what an earlier one left open.
 */
async function claimSponsored(context: Context, order: SponsoredOrder): Promise<SponsoredPurchase[]> {
  const { db } = context.database
  const { payReqIds } = order
  const requests = await requirePayRequests(context, payReqIds)
  requireNewLockers(requests)
  const paid = await findReceipts(db, payReqIds)
  const transaction = { tx: order.tx, network: order.tx.startsWith('0x') ? EVM : PRIMARY, payReqIds }
  requireOneNetwork(transaction, requests, paid)
  const unpaid = requests.filter(({ pay_req_id }) => !paid.has(pay_req_id))
  const payment = unpaid.length > 0 ? await readReceipts(context, transaction, unpaid) : NOTHING_PAID
  const purchases = await context.database
    .commit(async (tx, note) => {
      const written = await writePurchases(context, { tx, note }, order, requests, payment)
      note(...written.filter(({ isNew }) => isNew).map(noteOfPurchase))
      return written
    })
    .catch(async (refusal: unknown) => {
      throw isQuotePaid(refusal) ? await refusalOfPaid(context, transaction, requests, refusal) : refusal
    })
  await context.continuity.requireWritten(...purchases.filter(({ isNew }) => !isNew).map(noteOfPurchase))
  const existing = purchases.flatMap(({ locker }) => (locker.outcome === 'existing' ? [locker.locker.locker_id] : []))
  await context.continuity.requireWritten(...existing.map((key) => ({ kind: 'locker' as const, key })))
  return purchases
}

/** Another transaction has paid some of the quotes. Where it has paid all of them, this one is a second payment. */
async function refusalOfPaid(
  context: Context,
  transaction: SponsoredTransaction,
  requests: readonly PayRequest[],
  refusal: unknown,
): Promise<unknown> {
  const paid = await findReceipts(context.database.db, transaction.payReqIds)
  const paidOtherwise = transaction.payReqIds.filter(
    (id) => (paid.get(id)?.tx_hash ?? transaction.tx) !== transaction.tx,
  )
  if (paidOtherwise.length < requests.length) return someQuotesPaid(paidOtherwise)
  try {
    const { purchases, payment } = await findPayment(context, transaction, requests)
    const isNoted = await noteSecond(context, { ...purchases[0], payReqIds: transaction.payReqIds, payment })
    return isNoted ? secondPaymentRefused() : refusal
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.code === 'tx_not_found' ? secondPaymentUnseen() : refusal
  }
}

function noteOfPurchase({ receipt }: SponsoredPurchase): Noted {
  return { kind: 'receipt', key: receipt.receipt_id }
}

async function requirePayRequests({ database }: Context, payReqIds: readonly string[]): Promise<PayRequest[]> {
  const found = new Map((await findPayRequests(database.db, payReqIds)).map((request) => [request.pay_req_id, request]))
  const requests = payReqIds.map((id) => found.get(id)).filter((request) => request !== undefined)
  if (requests.length < payReqIds.length) {
    throw payReqNotFound({ pay_req_ids: payReqIds.filter((id) => !found.has(id)) })
  }
  return requests
}

/** By the id of the quote that they paid. */
async function findReceipts(db: Db, payReqIds: readonly string[]) {
  const receipts = await findReceiptsOfRequests(db, payReqIds)
  return new Map(receipts.map((receipt) => [receipt.pay_req_id, receipt]))
}

/** The receipts of what a transaction paid for, not yet written. */
interface PaidReceipts {
  receipts: readonly SignedReceipt[]
  authorizations: readonly string[]
}

const NOTHING_PAID: PaidReceipts = { receipts: [], authorizations: [] }

async function readReceipts(
  context: Context,
  transaction: SponsoredTransaction,
  unpaid: readonly PayRequest[],
): Promise<PaidReceipts> {
  const { purchases, payment } = await inQuoteTime(context, unpaid, () => findPayment(context, transaction, unpaid))
  const receipts = await Promise.all(purchases.map(({ request, leg }) => newReceipt(context, request, leg, payment)))
  return { receipts, authorizations: payment.authorizations }
}

async function writePurchases(
  context: Context,
  { tx, note }: { tx: Tx; note: Note },
  { kind, payReqIds, tx: paidBy, ownerIdentity, tags }: SponsoredOrder,
  requests: readonly PayRequest[],
  { receipts, authorizations }: PaidReceipts,
): Promise<SponsoredPurchase[]> {
  const booked = await bookReceipts(tx, kind, receipts, authorizations)
  const written = new Set(booked.map(({ receipt_id }) => receipt_id))
  const all = await findReceipts(tx, payReqIds)
  const purchases: SponsoredPurchase[] = []
  const { maxLockersPerOwner: maxPerOwner } = context.config.payments
  for (const request of requests) {
    const receipt = all.get(request.pay_req_id)
    if (!receipt) throw paymentRefused('transaction_already_used')
    requireOwner(receipt, ownerIdentity)
    if (receipt.tx_hash !== paidBy) throw paymentRefused('quote_already_paid')
    const locker = await createLocker(tx, note, { receipt, request, tags, createdAt: unixNow(context), maxPerOwner })
    purchases.push({ receipt, request, isNew: written.has(receipt.receipt_id), locker })
  }
  for (const receipt_id of written) await context.queue.enqueue(tx, 'attest-payment', { receipt_id })
  return purchases
}

function requireOwner({ payer_pubkey, sig_alg }: SignedReceipt, ownerIdentity: string): void {
  if (payer_pubkey === (sig_alg === 'secp256k1' ? ownerIdentity.toLowerCase() : ownerIdentity)) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'owner_identity is not who paid on chain', {
    hint: 'name the wallet that paid: it will own the locker',
  })
}

/** A sponsor gets the record of each locker. That of a renewed locker is its owner's, who may be somebody else. */
function requireNewLockers(requests: readonly PayRequest[]): void {
  for (const { quote } of requests) {
    const { renewal } = (JSON.parse(quote) as Quote).extensions.svc
    if (renewal)
      throw receiptIsRenewal(renewal.receipt_id, 'confirm the payment of a renewal with POST /v1/storage/confirm')
  }
}
