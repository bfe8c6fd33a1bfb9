import { ServiceError } from '@svc/http-service/service-error'
import { EVM, PRIMARY } from '@svc/payments/networks'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, payReqNotFound } from '@svc/sales/errors'
import { inQuoteTime } from '@svc/sales/read-payment'
import type { Kysely, Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { Schema } from '../db/schema.ts'
import { createLocker, type LockerCreation } from '../lockers/create-locker.ts'
import { bookReceipts, newReceipt } from './claim-payment.ts'
import { findPayment, legsOn, mixedNetworks, type SponsoredTransaction } from './sponsored-payment.ts'
import { findPayRequests, findReceiptsOfRequests, type PayRequest } from './store.ts'

export interface SponsoredOrder {
  /** A single purchase takes the transaction whole; a batch leaves what is left of it to other batches. */
  kind: 'single' | 'batch'
  payReqIds: readonly string[]
  tx: string
  ownerIdentity: string
  tags: readonly string[]
}

export interface SponsoredPurchase {
  receipt: SignedReceipt
  /** Whether the receipt was written now. */
  isNew: boolean
  locker: LockerCreation
}

/**
 * Receipts and lockers for what one transaction paid, in the order of the quotes. All receipts are written or none;
 * with them the lockers, except where an owner may have no more. What an earlier call left undone is done by the next.
 */
export async function settleSponsored(context: Context, order: SponsoredOrder): Promise<SponsoredPurchase[]> {
  const { db } = context.database
  const { payReqIds } = order
  const requests = await requirePayRequests(context, payReqIds)
  const paid = await findReceipts(db, payReqIds)
  const transaction = { tx: order.tx, network: order.tx.startsWith('0x') ? EVM : PRIMARY, payReqIds }
  requireOneNetwork(transaction, requests, paid)
  const unpaid = requests.filter(({ pay_req_id }) => !paid.has(pay_req_id))
  const receipts = unpaid.length > 0 ? await readReceipts(context, transaction, unpaid) : []
  return db.transaction().execute((tx) => write(context, tx, order, requests, receipts))
}

async function requirePayRequests({ database }: Context, payReqIds: readonly string[]): Promise<PayRequest[]> {
  const found = new Map((await findPayRequests(database.db, payReqIds)).map((request) => [request.pay_req_id, request]))
  const requests = payReqIds.map((id) => found.get(id)).filter((request) => request !== undefined)
  if (requests.length < payReqIds.length) {
    throw payReqNotFound({ pay_req_ids: payReqIds.filter((id) => !found.has(id)) })
  }
  return requests
}

/** By the quote they paid. */
async function findReceipts(db: Kysely<Schema>, payReqIds: readonly string[]) {
  const receipts = await findReceiptsOfRequests(db, payReqIds)
  return new Map(receipts.map((receipt) => [receipt.pay_req_id, receipt]))
}

/**
 * A quote is on every network it has a leg of, one that is paid on that of its receipt. Where none is on the
 * transaction's network, the transaction is the wrong one; where some are, the quotes do not belong together (SPON-09).
 */
function requireOneNetwork(
  { network }: SponsoredTransaction,
  requests: readonly PayRequest[],
  paid: ReadonlyMap<string, SignedReceipt>,
): void {
  const here = requests.filter((request) => {
    const receipt = paid.get(request.pay_req_id)
    return receipt ? receipt.network === network.name : legsOn(network, request).length > 0
  })
  if (here.length > 0 && here.length < requests.length)
    throw mixedNetworks(`not all of these quotes are on ${network.name}, where the transaction is`)
}

async function readReceipts(context: Context, transaction: SponsoredTransaction, unpaid: readonly PayRequest[]) {
  const { purchases, payment } = await inQuoteTime(context, unpaid, () => findPayment(context, transaction, unpaid))
  return purchases.map(({ request, leg }) => newReceipt(context, request, leg, payment))
}

async function write(
  context: Context,
  tx: Transaction<Schema>,
  { kind, payReqIds, ownerIdentity, tags }: SponsoredOrder,
  requests: readonly PayRequest[],
  receipts: readonly SignedReceipt[],
): Promise<SponsoredPurchase[]> {
  const written = new Set((await bookReceipts(tx, kind, receipts)).map(({ receipt_id }) => receipt_id))
  const all = await findReceipts(tx, payReqIds)
  const purchases: SponsoredPurchase[] = []
  const { maxLockersPerOwner: maxPerOwner } = context.config.payments
  for (const request of requests) {
    const receipt = all.get(request.pay_req_id)
    if (!receipt) throw paymentRefused('transaction_already_used')
    requireOwner(receipt, ownerIdentity)
    const locker = await createLocker(tx, { receipt, request, tags, createdAt: unixNow(context), maxPerOwner })
    purchases.push({ receipt, isNew: written.has(receipt.receipt_id), locker })
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
