// Payments that matched no quote: looked up on chain, attached to a quote, or recorded as refunded. No money moves
// here.

import type { Body, Query } from '@svc/api/endpoint'
import { networkNamed } from '@svc/api/networks'
import type * as operations from '@svc/api/operations'
import type { Quote } from '@svc/api/purchases'
import { displayAmount } from '@svc/payments/amounts'
import type { Leg } from '@svc/payments/legs'
import type { ChainPayment } from '@svc/payments/payment'
import { paidLeg, type QuotedLeg } from '@svc/payments/selling/confirm'
import { chainUnavailable, paymentRefused, payReqNotFound, txNotFound } from '@svc/payments/selling/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import { canonicalTx } from '@svc/protocol/ids'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import { refundKey } from '../../continuity/documents.ts'
import type { RefundTable, Tx } from '../../db/schema.ts'
import { claim } from '../../purchases/claim.ts'
import {
  claimedAmount,
  findAuthorizationOwners,
  findPayRequest,
  findReceiptOfRequest,
  findReceiptsOfTransaction,
  findRefunds,
  insertPaymentTransaction,
  lockPaymentTransaction,
} from '../../purchases/store.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import { findPayment, insertRefund, setRefundTx } from './store.ts'

type LookedUp = operations.AdminPayment

/** Reads the transaction for every asset that this gateway accepts on the network. */
export async function lookUpPayment(context: Context, query: Query<typeof operations.adminPayment>) {
  const { network, tx } = transactionOf(query)
  const { db } = context.database
  const readings = await Promise.all(
    legsOn(context, network).map(async (leg) => ({
      leg,
      reading: await context.sales.reader(leg.of.network).read(tx, leg),
    })),
  )
  const payment = await findPayment(db, network, tx)
  const refunds = await findRefunds(db, { network, tx })
  const receipts = (await findReceiptsOfTransaction(db, tx)).filter((receipt) => receipt.network === network)
  await context.continuity.requireWritten(
    ...receipts.map(({ receipt_id }) => ({ kind: 'receipt' as const, key: receipt_id })),
    ...refunds.map((refund) => ({ kind: 'refund' as const, key: refundKey(refund) })),
  )
  const arrivals: LookedUp['arrivals'] = []
  for (const { leg, reading } of readings) {
    if (reading.outcome !== 'found') continue
    const claimed = await claimedAmount(db, { network, tx, asset: leg.of.ticker })
    arrivals.push(arrival(leg, reading, { claimed, refunded: refundedIn(leg.of.ticker, refunds) }))
  }
  return {
    network,
    tx,
    chain: chainOf(readings.map(({ reading }) => reading.outcome)),
    arrivals,
    claimed_raw: payment && payment.kind !== 'refund' ? payment.bound : '0',
    receipts,
    refund: refunds[0] ? shownRefund(refunds[0]) : null,
    refunds: refunds.map(shownRefund),
  } satisfies LookedUp
}

export function refundedIn(asset: string, refunds: readonly RefundTable[]): bigint {
  return refunds.filter((refund) => refund.asset === asset).reduce((sum, { amount }) => sum + BigInt(amount), 0n)
}

function transactionOf({ network, tx }: { network: string; tx: string }): { network: string; tx: string } {
  const known = networkNamed(network)
  if (known) return { network: known.name, tx: canonicalTx(tx) }
  throw new ValidationError({ loc: ['query', 'network'], msg: 'is not a network of this gateway' })
}

export function legsOn({ sales }: Context, network: string): readonly Leg[] {
  return sales.treasuries.find((treasury) => treasury.network.name === network)?.legs ?? []
}

/** A node that does not answer may hide a payment in another asset. */
function chainOf(outcomes: readonly string[]): LookedUp['chain'] {
  if (outcomes.includes('found') || outcomes.includes('rejected')) return 'found'
  return outcomes.includes('unavailable') || outcomes.length === 0 ? 'unavailable' : 'not_found'
}

function arrival(
  { of }: Leg,
  { received, payer, blockTime, references }: ChainPayment,
  { claimed, refunded }: { claimed: bigint; refunded: bigint },
): LookedUp['arrivals'][number] {
  return {
    asset: of.ticker,
    received_raw: String(received),
    received_amount: displayAmount(received, of.decimals),
    payer,
    block_time: blockTime === null ? null : isoSeconds(blockTime),
    references: [...references],
    claimed_raw: String(claimed),
    refunded_raw: String(refunded),
  }
}

/**
 * Accepts what a confirmation would refuse, on the admin's responsibility: a payment that came too late or names
 * another quote and, if so ordered, one that is too small. A transaction still pays only once (T-01).
 */
export async function attachPayment(context: Context, actor: Actor, order: Body<typeof operations.attachPayment>) {
  const { network, tx } = transactionOf(order)
  const request = await findPayRequest(context.database.db, order.pay_req_id)
  if (!request) throw payReqNotFound()
  const { accepts } = JSON.parse(request.quote) as Quote
  const leg = paidLeg(accepts, { pay_network: network, pay_asset: order.asset })
  const payment = await readArrival(context, tx, leg)
  const isShort = payment.received < leg.amount
  if (isShort && !order.accept_less) {
    const observed = { leg, amount: leg.amount, quote: request, payment }
    throw paymentRefused('amount_too_small', observed)
  }
  const paid = isShort ? { ...leg, amount: payment.received } : leg
  const proof = { tx: payment.tx, kind: 'single', payment, quotes: [{ request, leg: paid }] } as const
  const [{ receipt, isNew }] = await claim(context, proof, {
    andThen: (transaction) =>
      appendAudit(context, transaction, {
        actor: actor.identity,
        action: 'attach_payment',
        target: `${network} ${tx}`,
        reason: order.reason,
        details: {
          pay_req_id: order.pay_req_id,
          asset: leg.ticker,
          received_raw: String(payment.received),
          asked_raw: String(leg.amount),
        },
      }),
  }).catch(refuseUsed)
  return { ok: true, changed: isNew, receipt } as const
}

async function readArrival(
  { sales }: Context,
  tx: string,
  leg: Pick<QuotedLeg, 'network' | 'asset' | 'payTo'>,
): Promise<ChainPayment> {
  const reading = await sales.reader(leg.network).read(tx, leg)
  if (reading.outcome === 'found') return reading
  if (reading.outcome === 'unavailable') throw chainUnavailable()
  throw reading.outcome === 'not_found' ? txNotFound(leg.network) : paymentRefused(reading.reason)
}

/** A claim refuses a transaction or a quote that was used before. */
function refuseUsed(error: unknown): never {
  const isRefusal = error instanceof ServiceError && error.code === 'payment_verification_failed'
  throw isRefusal ? alreadyUsed(error.message) : error
}

function alreadyUsed(message: string, details?: Record<string, unknown>): ServiceError {
  return new ServiceError('payment_already_used', message, {
    hint: 'GET /v1/internal/operations/payments shows what the transaction was used for',
    ...(details && { details }),
  })
}

/**
 * Records a refund. From then on no quote can claim the refunded amount, and all refunds together stay within what
 * receipts leave, for each asset (T-205). The refunding transaction may be named now or later; it also distinguishes
 * refunds of the same amount.
 */
export async function refundPayment(context: Context, actor: Actor, order: Body<typeof operations.refundPayment>) {
  const { network, tx } = transactionOf(order)
  const leg = legsOn(context, network).find(({ of }) => of.ticker.toLowerCase() === order.asset.toLowerCase())
  if (!leg) throw new ValidationError({ loc: ['body', 'asset'], msg: 'is not an asset of this gateway' })
  if (BigInt(order.amount_raw) === 0n) throw new ValidationError({ loc: ['body', 'amount_raw'], msg: 'must not be 0' })
  const { ticker: asset, network: chain } = leg.of
  const refundTx = order.refund_tx === undefined ? null : canonicalTx(order.refund_tx)
  const wanted = { asset, amount: order.amount_raw, refundTx }
  const isKnown = sameRefund(await findRefunds(context.database.db, { network, tx }), wanted) !== undefined
  const payment = isKnown ? null : await readArrival(context, tx, { ...leg, network: chain })
  return context.database.commit(async (transaction, recordDocuments) => {
    const refunds = await lockRefunds(transaction, { network, tx, asset, payment })
    const before = sameRefund(refunds, wanted)
    if (before && (refundTx === null || before.refund_tx !== null)) {
      // A repeated order that was not answered may be paid next, so the journal must have the refund.
      recordDocuments({ kind: 'refund', key: refundKey(before) })
      return { ok: true, changed: false, refund: shownRefund(before) } as const
    }
    if (!before && !payment) throw alreadyUsed('another refund of this transaction is recorded')
    const refund: RefundTable = {
      ...(before ?? {
        network,
        tx,
        position: refunds.length,
        asset,
        amount: order.amount_raw,
        received: String(payment?.received),
        decided_by: actor.identity,
        decided_at: isoSeconds(unixNow(context)),
        reason: order.reason,
      }),
      refund_tx: refundTx,
    }
    if (before) await setRefundTx(transaction, refund)
    else {
      await requireSettled(transaction, network, payment?.authorizations ?? [])
      await requireUnused(transaction, refund, refunds)
      await insertRefund(transaction, refund)
    }
    recordDocuments({ kind: 'refund', key: refundKey(refund) })
    await appendAudit(context, transaction, {
      actor: actor.identity,
      action: 'refund_payment',
      target: `${network} ${tx}`,
      reason: order.reason,
      details: { asset, amount_raw: order.amount_raw, refund_tx: refundTx },
    })
    return { ok: true, changed: true, refund: shownRefund(refund) } as const
  })
}

interface WantedRefund {
  asset: string
  amount: string
  refundTx: string | null
}

/** The refund that an order repeats, if any. */
function sameRefund(
  refunds: readonly RefundTable[],
  { asset, amount, refundTx }: WantedRefund,
): RefundTable | undefined {
  const alike = refunds.filter((refund) => refund.asset === asset && refund.amount === amount)
  if (refundTx === null) return alike[0]
  return alike.find(({ refund_tx }) => refund_tx === refundTx) ?? alike.find(({ refund_tx }) => refund_tx === null)
}

/** Claims and other refunds of the transaction wait until this database transaction ends. */
async function lockRefunds(
  transaction: Tx,
  { payment, ...key }: { network: string; tx: string; asset: string; payment: ChainPayment | null },
): Promise<RefundTable[]> {
  if (payment) {
    const row = {
      ...key,
      kind: 'refund',
      payer: payment.payer,
      received: String(payment.received),
      bound: '0',
    } as const
    await insertPaymentTransaction(transaction, row)
  }
  await lockPaymentTransaction(transaction, key)
  return findRefunds(transaction, key)
}

/** The quote of an authorization that has paid gets its receipt automatically. */
async function requireSettled(transaction: Tx, network: string, authorizations: readonly string[]): Promise<void> {
  const owners = await findAuthorizationOwners(transaction, network, authorizations)
  for (const owner of owners) {
    if (await findReceiptOfRequest(transaction, owner)) continue
    throw alreadyUsed(`an authorization in this transaction pays ${owner}, which has no receipt yet`)
  }
}

/** Amounts that receipts account for stay paid, and nothing is refunded twice. */
async function requireUnused(transaction: Tx, refund: RefundTable, refunds: readonly RefundTable[]): Promise<void> {
  const claimed = await claimedAmount(transaction, refund)
  const refunded = refundedIn(refund.asset, refunds)
  if (BigInt(refund.amount) <= BigInt(refund.received) - claimed - refunded) return
  throw alreadyUsed('receipts and refunds leave less of this transaction than this refund', {
    received_raw: refund.received,
    claimed_raw: String(claimed),
    refunded_raw: String(refunded),
  })
}

export function shownRefund(refund: RefundTable): NonNullable<LookedUp['refund']> {
  const { asset, amount, refund_tx, decided_by, decided_at, reason } = refund
  return { amount_raw: amount, asset, refund_tx, decided_by, decided_at, reason }
}
