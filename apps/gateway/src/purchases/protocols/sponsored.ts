// Purchases that a sponsor confirms for the wallet that paid: one quote, or several that one transaction paid. Their
// receipts and lockers are written in one commit.

import type { Body } from '@svc/api/endpoint'
import type { LockerRecord } from '@svc/api/lockers'
import { NETWORKS, type Network } from '@svc/api/networks'
import type { Quote } from '@svc/api/purchases'
import type { SponsoredBatch, SponsoredConfirmation, sponsoredConfirm, sponsoredConfirmBatch } from '@svc/api/sponsored'
import type { ChainPayment } from '@svc/payments/payment'
import { inQuoteTime, type QuotedLeg, quotedLeg, readPayment, transactionId } from '@svc/payments/selling/confirm'
import { paymentRefused, payReqNotFound, secondPaymentRefused, secondPaymentUnseen } from '@svc/payments/selling/errors'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Auth } from '../../auth/auth.ts'
import { receiptIsRenewal } from '../../auth/errors.ts'
import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import type { LockerCreation } from '../../lockers/create-locker.ts'
import { lockerRecord } from '../../lockers/locker-record.ts'
import { claim } from '../claim.ts'
import { findPayRequests, findReceiptsOfRequests, type PayRequest } from '../store.ts'
import { recordRefused, recordSecond } from '../unclaimed/record-payment.ts'
import { confirmation } from './transaction.ts'

interface SponsoredOrder {
  /** A single purchase claims the whole transaction; a batch leaves the rest of it to other batches. */
  kind: 'single' | 'batch'
  payReqIds: readonly string[]
  tx: string
  ownerIdentity: string
  tags: readonly string[]
}

interface SponsoredPurchase {
  receipt: SignedReceipt
  /** Whether this call wrote the receipt. */
  isNew: boolean
  locker: LockerCreation
}

export async function requireSponsor({ sponsors }: Auth, { headers }: WireRequest): Promise<{ service: string }> {
  if (sponsors) return sponsors.verify(headers.authorization)
  throw new ServiceError('OIDC_TOKEN_INVALID', 'sponsored purchases are not configured on this gateway', {
    hint: "use POST /v1/storage/confirm, or ask the gateway's admin to set SPONSOR_OIDC",
    headers: { 'www-authenticate': 'Bearer' },
  })
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
  const { receipt, isNew, locker } = purchase as SponsoredPurchase // one quote is one purchase
  if (locker.outcome === 'refused') throw locker.refusal
  return {
    ...confirmation(receipt, !isNew),
    locker: recordFor(locker.locker, locker.outcome),
    locker_id: locker.locker.locker_id,
    already_provisioned: locker.outcome === 'existing',
    owner_identity: receipt.payer_pubkey,
  }
}

/**
 * A repeated call must not reveal the public link's new id to the sponsor after the owner has rotated the link (T-49).
 */
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
 * are created with them, unless the owner has reached the limit. A repeated call completes an earlier one.
 */
async function claimSponsored(context: Context, order: SponsoredOrder): Promise<SponsoredPurchase[]> {
  const { kind, payReqIds, tx, ownerIdentity, tags } = order
  const requests = await requirePayRequests(context, payReqIds)
  requireNewLockers(requests)
  const receipts = await findReceiptsOfRequests(context.database.db, payReqIds)
  const paid = new Map(receipts.map((receipt) => [receipt.pay_req_id, receipt]))
  const transaction = { tx, network: await networkOf(context, tx, requests, receipts), payReqIds }
  requireOneNetwork(transaction, requests, paid)
  if (payReqIds.every((id) => (paid.get(id)?.tx_hash ?? tx) !== tx)) {
    requireOwner(paid.get(payReqIds[0] as string) as SignedReceipt, ownerIdentity) // each quote has a receipt
    throw await refusalOfSecond(context, transaction, requests)
  }
  const unpaid = requests.filter(({ pay_req_id }) => !paid.has(pay_req_id))
  const seen =
    unpaid.length > 0
      ? await inQuoteTime(context, unpaid, () => findPayment(context, transaction, unpaid))
      : { payment: null, purchases: [] }
  const legs = new Map(seen.purchases.map(({ request, leg }) => [request.pay_req_id, leg]))
  const quotes = requests.map((request) => ({ request, leg: legs.get(request.pay_req_id) ?? null }))
  const [first, ...others] = quotes as [(typeof quotes)[0], ...typeof quotes] // an order has at least one quote
  const purchases = await claim(
    context,
    { tx, kind, payment: seen.payment, quotes: [first, ...others] },
    { require: (receipt) => requireOwner(receipt, ownerIdentity), lockers: { tags } },
  )
  return purchases.map(({ locker, ...purchase }) => ({ ...purchase, locker: locker as LockerCreation })) // a locker was requested
}

/** The error when other transactions have paid all of the quotes: this one may be a second payment of them. */
async function refusalOfSecond(
  context: Context,
  transaction: SponsoredTransaction,
  requests: readonly PayRequest[],
): Promise<ServiceError> {
  const refusal = paymentRefused('quote_already_paid')
  try {
    const { purchases, payment } = await findPayment(context, transaction, requests)
    const isRecorded = await recordSecond(context, { ...purchases[0], payReqIds: transaction.payReqIds, payment })
    return isRecorded ? secondPaymentRefused() : refusal
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return error.code === 'tx_not_found' ? secondPaymentUnseen() : refusal
  }
}

async function requirePayRequests({ database }: Context, payReqIds: readonly string[]): Promise<PayRequest[]> {
  const found = new Map((await findPayRequests(database.db, payReqIds)).map((request) => [request.pay_req_id, request]))
  const requests = payReqIds.map((id) => found.get(id)).filter((request) => request !== undefined)
  if (requests.length < payReqIds.length) {
    throw payReqNotFound({ pay_req_ids: payReqIds.filter((id) => !found.has(id)) })
  }
  return requests
}

function requireOwner({ payer_pubkey, sig_alg }: SignedReceipt, ownerIdentity: string): void {
  if (payer_pubkey === (sig_alg === 'secp256k1' ? ownerIdentity.toLowerCase() : ownerIdentity)) return
  throw new ServiceError('OWNER_IDENTITY_MISMATCH', 'owner_identity is not the wallet that paid on chain', {
    hint: 'use the wallet that paid, which will own the locker',
  })
}

/**
 * A sponsor gets the record of each locker. The record of a renewed locker belongs to its owner, who may be another
 * person.
 */
function requireNewLockers(requests: readonly PayRequest[]): void {
  for (const { quote } of requests) {
    const { renewal } = (JSON.parse(quote) as Quote).extensions.svc
    if (renewal)
      throw receiptIsRenewal(renewal.receipt_id, 'confirm the payment of a renewal with POST /v1/storage/confirm')
  }
}

interface Purchase {
  request: PayRequest
  leg: QuotedLeg
}

/** All legs have the same asset and destination. */
type Purchases = readonly [Purchase, ...Purchase[]]

interface SponsoredTransaction {
  tx: string
  network: Network
  /** The quotes that it may name. */
  payReqIds: readonly string[]
}

/**
 * The form of a transaction identifies its chain family. If the quotes are on several networks of this family, the
 * network that knows the transaction is used.
 */
async function networkOf(
  { sales }: Context,
  tx: string,
  requests: readonly PayRequest[],
  receipts: readonly SignedReceipt[],
): Promise<Network> {
  const ofFamily = NETWORKS.filter((network) => sales.reader(network).isTransactionId(tx))
  const quoted = ofFamily.flatMap((network) => {
    const [leg] = requests.flatMap((request) => legsOn(network, request))
    return leg ? [{ network, leg }] : []
  })
  const paid = receipts.find(({ tx_hash }) => tx_hash === tx)
  const [first] = ofFamily as [Network, ...Network[]] // the family has at least one network
  if (paid) return ofFamily.find(({ name }) => name === paid.network) ?? first
  if (quoted.length < 2) return quoted[0]?.network ?? first
  const seen = await Promise.all(
    quoted.map(async ({ network, leg }) => ({ network, reading: await sales.reader(network).read(tx, leg) })),
  )
  const shown = seen.find(({ reading }) => reading.outcome === 'found' || reading.outcome === 'rejected')
  return (shown ?? seen.find(({ reading }) => reading.outcome === 'unavailable'))?.network ?? first
}

/**
 * An unpaid quote is on every network for which it has a leg; a paid quote is on the network of its receipt. Quotes
 * that are only partly on the transaction's network do not belong together (SPON-09). If none is, the transaction is
 * wrong.
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
    throw mixedNetworks(`the transaction is on ${network.name}, but not all of these quotes are`)
}

/** Tries the legs on the transaction's network that all quotes share, and uses the first that was paid (SPON-08). */
async function findPayment(
  context: Context,
  { tx, network, payReqIds }: SponsoredTransaction,
  requests: readonly PayRequest[],
): Promise<{ purchases: Purchases; payment: ChainPayment }> {
  const offers = requests.map((request) => ({ request, legs: legsOn(network, request) }))
  if (offers.every(({ legs }) => legs.length === 0)) throw paymentRefused('wrong_transaction_form')
  const shared = sharedLegs(offers)
  if (shared.length === 0) throw mixedNetworks('these quotes have no common leg that one transaction could pay')
  let refusal = paymentRefused('nothing_received')
  let isNothing = true
  for (const purchases of shared) {
    const payment = await readPayment(context, tx, purchases, payReqIds)
    if (payment.outcome === 'found') return { purchases, payment }
    const { reason, seen } = payment
    const isRecorded = await recordRefused(context, { ...purchases[0], payReqIds, reason, payment: seen.payment })
    // A fault of the payment is more informative than a wrong asset.
    if (isNothing) refusal = paymentRefused(reason, seen, isRecorded)
    isNothing &&= reason === 'nothing_received'
  }
  throw refusal
}

function legsOn(network: Network, { quote }: PayRequest): QuotedLeg[] {
  const { accepts } = JSON.parse(quote) as Quote
  return accepts.map(quotedLeg).filter((leg) => leg.network === network)
}

interface Offer {
  request: PayRequest
  legs: readonly QuotedLeg[]
}

function sharedLegs(offers: readonly Offer[]): Purchases[] {
  const candidates = offers[0]?.legs ?? []
  return candidates.flatMap(({ asset, payTo }) => {
    const purchases = offers.flatMap(({ request, legs }) => {
      const leg = legs.find((other) => other.asset === asset && other.payTo === payTo)
      return leg ? [{ request, leg }] : []
    })
    // `offers` is not empty, so neither is a list with one purchase for each of them.
    return purchases.length === offers.length ? [purchases as [Purchase, ...Purchase[]]] : []
  })
}

function mixedNetworks(message: string): ServiceError {
  return new ServiceError('mixed_networks', message, { hint: 'confirm only quotes that one transaction paid' })
}
