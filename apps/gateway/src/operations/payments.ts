// Payments that matched no quote: looked up on chain, attached to a quote, or noted as refunded. No money moves here.

import type { Body, Query } from '@svc/api/endpoint'
import type * as operations from '@svc/api/operations'
import type { Quote } from '@svc/api/purchases'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { displayAmount } from '@svc/payments/amounts'
import type { Leg } from '@svc/payments/legs'
import { networkNamed } from '@svc/payments/networks'
import type { ChainPayment } from '@svc/payments/payment'
import { isoSeconds } from '@svc/protocol/evidence'
import { canonicalTx } from '@svc/protocol/ids'
import { chainUnavailable, paymentRefused, payReqNotFound, txNotFound } from '@svc/sales/errors'
import { paidLeg, type QuotedLeg } from '@svc/sales/read-payment'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { PaymentRefundTable, PaymentTransactionTable, Schema } from '../db/schema.ts'
import { claimPayment } from '../purchases/claim-payments.ts'
import { newReceipt } from '../purchases/confirm-payment.ts'
import {
  findPayRequest,
  findReceiptsOfTransaction,
  insertPaymentTransactions,
  lockPaymentTransaction,
  setAmounts,
} from '../purchases/store.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import { findPayment, findRefund, putRefund } from './store.ts'

type LookedUp = operations.OperatorPayment

/** Asks the chain about every asset that this gateway takes on the network. */
export async function lookUpPayment(context: Context, query: Query<typeof operations.operatorPayment>) {
  const { network, tx } = transactionOf(query)
  const { db } = context.database
  const readings = await Promise.all(
    legsOn(context, network).map(async (leg) => ({
      leg,
      reading: await context.sales.reader(leg.of.network).read(tx, leg),
    })),
  )
  const arrivals = readings.flatMap(({ leg, reading }) => (reading.outcome === 'found' ? [arrival(leg, reading)] : []))
  const payment = await findPayment(db, network, tx)
  const refund = await findRefund(db, network, tx)
  return {
    network,
    tx,
    chain: chainOf(readings.map(({ reading }) => reading.outcome)),
    arrivals,
    claimed_raw: payment && payment.kind !== 'refund' ? payment.bound : '0',
    receipts: (await findReceiptsOfTransaction(db, tx)).filter((receipt) => receipt.network === network),
    refund: refund && shownRefund(refund),
  } satisfies LookedUp
}

function transactionOf({ network, tx }: { network: string; tx: string }): { network: string; tx: string } {
  const known = networkNamed(network)
  if (known) return { network: known.name, tx: canonicalTx(tx) }
  throw new ValidationError({ loc: ['query', 'network'], msg: 'is not a network of this gateway' })
}

function legsOn({ sales }: Context, network: string): readonly Leg[] {
  return sales.treasuries.find((treasury) => treasury.network.name === network)?.legs ?? []
}

/** A node that does not answer may hide what another asset brought. */
function chainOf(outcomes: readonly string[]): LookedUp['chain'] {
  if (outcomes.includes('found') || outcomes.includes('rejected')) return 'found'
  return outcomes.includes('unavailable') || outcomes.length === 0 ? 'unavailable' : 'not_found'
}

function arrival({ of }: Leg, { received, payer, blockTime, references }: ChainPayment): LookedUp['arrivals'][number] {
  return {
    asset: of.ticker,
    received_raw: String(received),
    received_amount: displayAmount(received, of.decimals),
    payer,
    block_time: blockTime === null ? null : isoSeconds(blockTime),
    references: [...references],
  }
}

/**
 * The operator answers for what a confirmation would refuse: a payment that came too late or names another quote, and,
 * if so ordered, one that is too small. That a transaction pays once holds here as everywhere (T-01).
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
    const seen = { leg, amount: leg.amount, quote: request, payment }
    throw paymentRefused('amount_too_small', seen)
  }
  const paid = isShort ? { ...leg, amount: payment.received } : leg
  const { receipt, isNew } = await claimPayment(context, {
    receipt: newReceipt(context, request, paid, payment),
    payment,
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

/** What a claim refuses is a transaction or a quote that was used before. */
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

/** From then on no quote can claim what is refunded. The transaction that paid it back may be named now or later. */
export async function refundPayment(context: Context, actor: Actor, order: Body<typeof operations.refundPayment>) {
  const { network, tx } = transactionOf(order)
  const leg = legsOn(context, network).find(({ of }) => of.ticker.toLowerCase() === order.asset.toLowerCase())
  if (!leg) throw new ValidationError({ loc: ['body', 'asset'], msg: 'is not an asset of this gateway' })
  const { ticker: asset, network: chain } = leg.of
  const refundTx = order.refund_tx === undefined ? null : canonicalTx(order.refund_tx)
  const known = await findRefund(context.database.db, network, tx)
  const payment = known ? null : await readArrival(context, tx, { ...leg, network: chain })
  return context.database.db.transaction().execute(async (transaction) => {
    const before = await findRefund(transaction, network, tx)
    if (before && !isSameRefund(before, { asset, amount: order.amount_raw, refundTx })) {
      throw alreadyUsed('another refund of this transaction is recorded')
    }
    if (before && (refundTx === null || before.refund_tx !== null)) {
      return { ok: true, changed: false, refund: shownRefund(before) } as const
    }
    if (payment && !before) await blockClaims(transaction, { network, tx, asset, amount: order.amount_raw, payment })
    const decided: PaymentRefundTable = before ?? {
      network,
      tx,
      asset,
      amount: order.amount_raw,
      refund_tx: null,
      decided_by: actor.identity,
      decided_at: isoSeconds(unixNow(context)),
      reason: order.reason,
    }
    const refund = { ...decided, refund_tx: refundTx }
    await putRefund(transaction, refund)
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

function isSameRefund(
  before: PaymentRefundTable,
  { asset, amount, refundTx }: { asset: string; amount: string; refundTx: string | null },
): boolean {
  const isSameTx = refundTx === null || before.refund_tx === null || before.refund_tx === refundTx
  return before.asset === asset && before.amount === amount && isSameTx
}

interface Refunded extends Pick<PaymentTransactionTable, 'network' | 'tx' | 'asset'> {
  amount: string
  payment: ChainPayment
}

/** What receipts account for stays paid. */
async function blockClaims(transaction: Transaction<Schema>, { payment, amount, ...key }: Refunded): Promise<void> {
  const received = String(payment.received)
  const row = { ...key, kind: 'refund', payer: payment.payer, received, bound: received } as const
  const isFree = (await insertPaymentTransactions(transaction, [row])) > 0
  const claimed = isFree ? null : await lockPaymentTransaction(transaction, key)
  const used = claimed && claimed.asset === key.asset ? BigInt(claimed.bound) : 0n
  if (BigInt(amount) > payment.received - used) {
    throw alreadyUsed('receipts account for more of this transaction than would be left', {
      received_raw: received,
      claimed_raw: String(used),
    })
  }
  if (claimed?.kind === 'batch') await setAmounts(transaction, { ...claimed, bound: claimed.received })
}

function shownRefund(refund: PaymentRefundTable): NonNullable<LookedUp['refund']> {
  const { asset, amount, refund_tx, decided_by, decided_at, reason } = refund
  return { amount_raw: amount, asset, refund_tx, decided_by, decided_at, reason }
}
