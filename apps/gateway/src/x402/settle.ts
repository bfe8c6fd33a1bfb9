// From a signed payment to its receipt, whatever happens on the way: what was noted decides, then the chain.

import { setTimeout as pause } from 'node:timers/promises'
import type { X402Leg, X402Quote } from '@svc/api/x402'
import { judgePayment } from '@svc/payments/judge-payment'
import { networkNamed } from '@svc/payments/networks'
import type { ChainReading } from '@svc/payments/payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type QuotedLeg, quotedLeg } from '@svc/sales/paid-leg'
import { paymentRefused, quoteExpired } from '@svc/sales/payment-errors'
import { unixNow } from '../context.ts'
import { claimPayment } from '../purchases/claim-payment.ts'
import type { PayRequest } from '../purchases/store.ts'
import { nothingToSign, notSettled, settlementPending } from './errors.ts'
import type { X402Context } from './room.ts'
import { type Fate, Refused, type SettlementOrder, type Settler } from './settler.ts'
import {
  findQuoteOfPayment,
  findSettlement,
  forgetSettlement,
  insertSettlement,
  replaceTransaction,
  type Settlement,
} from './store.ts'

export interface SignedPayment {
  request: PayRequest
  leg: X402Leg
  payload: SettlementOrder['payload']
  /** As the settler tells it. */
  id: string
}

type Claim = { receipt: SignedReceipt; isNew: boolean }

/** Where nothing was paid, and nothing will be by what was noted, the note is gone. */
type End = Claim | 'failed' | 'lost'

/** A quote is settled once: whatever was noted for it first is brought to its end before anything else is sent. */
export async function settlePayment(context: X402Context, payment: SignedPayment): Promise<Claim> {
  const { request, leg } = payment
  const { db } = context.database
  const { network } = quotedLeg(leg)
  const quoteOfPayment = await findQuoteOfPayment(db, network.name, payment.id)
  if (quoteOfPayment !== null && quoteOfPayment !== request.pay_req_id) throw alreadyUsed()
  const begun = await resumeSettlement(context, request)
  if (typeof begun === 'object') return begun
  if (unixNow(context) > request.expires_at) throw quoteExpired()
  const settler = settlerOf(context, network.name)
  if (!settler) throw nothingToSign()
  const refusal = await settler.settle({ ...payment, note: noteFor(context, payment) })
  const settlement = await findSettlement(db, request.pay_req_id)
  if (!settlement) throw refusal ? notSettled(refusal, network) : alreadyUsed()
  const end = await finish(context, request, settlement)
  if (typeof end === 'object') return end
  throw notSettled(
    end === 'failed'
      ? { why: 'invalid', reason: 'transaction_failed' }
      : { why: 'unavailable', problem: 'the chain did not take the transaction' },
    network,
  )

  function alreadyUsed() {
    return notSettled({ why: 'invalid', reason: 'transaction_already_used' }, network)
  }
}

/** What a settlement of this quote that was begun has led to. */
export async function resumeSettlement(context: X402Context, request: PayRequest): Promise<End | 'none'> {
  const settlement = await findSettlement(context.database.db, request.pay_req_id)
  if (!settlement) return 'none'
  const { tx, network } = settlement
  const leg = quotedLeg(legOf(request, settlement))
  const { outcome } = await context.sales.reader(leg.network).read(tx, leg)
  // A gateway that was killed may have noted it and not sent it.
  if (outcome === 'not_found') await settlerOf(context, network)?.resend(settlement)
  return finish(context, request, settlement)
}

function noteFor({ database }: X402Context, { request, leg, id }: SignedPayment): SettlementOrder['note'] {
  const { pay_req_id } = request
  const { network } = quotedLeg(leg)
  return (sent, replacing) => {
    if (replacing !== undefined) return replaceTransaction(database.db, { pay_req_id, ...sent }, replacing)
    return insertSettlement(database.db, {
      pay_req_id,
      network: network.name,
      asset: leg.asset,
      payment_id: id,
      ...sent,
    })
  }
}

function settlerOf({ settlers }: X402Context, networkName: string): Settler | undefined {
  const network = networkNamed(networkName)
  return network ? settlers.get(network) : undefined
}

function legOf(request: PayRequest, settlement: Settlement): X402Leg {
  const { accepts } = JSON.parse(request.quote) as X402Quote
  const leg = accepts.find(
    ({ network, asset }) => networkNamed(network)?.name === settlement.network && asset === settlement.asset,
  )
  if (!leg) throw new Error(`the settlement of ${request.pay_req_id} is of no leg of its quote`)
  return leg
}

async function finish(context: X402Context, request: PayRequest, settlement: Settlement): Promise<End> {
  const leg = legOf(request, settlement)
  const paid = quotedLeg(leg)
  const reading = await watch(context, paid, settlement)
  if (reading.outcome === 'found') return claim(context, request, paid, reading, [request.pay_req_id])
  requireFailure(reading)
  const fate = reading.outcome === 'unavailable' ? 'may_come' : await fateOf(context, settlement, leg, reading.outcome)
  if (fate === 'may_come') throw settlementPending(paid.network, settlement.tx)
  // Once more, after the chain has moved on: what came in between is there now.
  const last = await context.sales.reader(paid.network).read(fate === 'never' ? settlement.tx : fate.tx, paid)
  if (last.outcome === 'found') return claim(context, request, paid, last, last.references)
  requireFailure(last)
  if (last.outcome === 'unavailable' || fate !== 'never') throw settlementPending(paid.network, settlement.tx)
  await forgetSettlement(context.database.db, settlement)
  return last.outcome === 'rejected' ? 'failed' : 'lost'
}

/** A transaction that went through and is no good payment stays noted: nothing else may be sent for its quote. */
function requireFailure(reading: ChainReading): void {
  if (reading.outcome === 'rejected' && reading.reason !== 'transaction_failed') throw paymentRefused(reading.reason)
}

async function fateOf(
  context: X402Context,
  settlement: Settlement,
  leg: X402Leg,
  outcome: 'not_found' | 'rejected',
): Promise<Fate> {
  const settler = settlerOf(context, settlement.network)
  if (!settler) return 'may_come'
  try {
    return await settler.fate(settlement, leg, outcome === 'rejected')
  } catch (error) {
    if (error instanceof Refused) return 'may_come'
    throw error
  }
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 1000

/** Until the chain shows the transaction, or the buyer has waited long enough. */
async function watch(context: X402Context, leg: QuotedLeg, settlement: Settlement): Promise<ChainReading> {
  const reader = context.sales.reader(leg.network)
  const end = performance.now() + context.config.x402.waitSeconds * 1000
  let reading = await reader.read(settlement.tx, leg)
  for (let ms = FIRST_PAUSE_MS; isOpen(reading) && performance.now() < end; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    await pause(ms)
    reading = await reader.read(settlement.tx, leg)
  }
  return reading
}

function isOpen({ outcome }: ChainReading): boolean {
  return outcome === 'not_found' || outcome === 'unavailable'
}

/** The payment was sent while the quote was alive: when the chain took it up does not matter. */
async function claim(
  context: X402Context,
  request: PayRequest,
  leg: QuotedLeg,
  payment: Extract<ChainReading, { outcome: 'found' }>,
  payReqIds: readonly string[],
): Promise<Claim> {
  const always = { createdAt: 0, expiresAt: Number.POSITIVE_INFINITY, skewSeconds: 0, now: 0 }
  const judgement = judgePayment(payment, { amount: leg.amount, payReqIds, ...always })
  if (!judgement.paid) throw paymentRefused(judgement.reason)
  return claimPayment(context, request, leg, payment)
}
