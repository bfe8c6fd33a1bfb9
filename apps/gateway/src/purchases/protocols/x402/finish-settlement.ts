// Determines the outcome of a payment that was sent: its receipt, or the reason why it pays nothing.

import { type Network, networkNamed } from '@svc/api/networks'
import type { X402Leg, X402Quote } from '@svc/api/x402'
import { poll } from '@svc/concurrency/retry'
import { type ChainPayment, type ChainReading, judgePayment, type PaymentTerms } from '@svc/payments/payment'
import { type QuotedLeg, quotedLeg } from '@svc/payments/selling/confirm'
import { paymentRefused } from '@svc/payments/selling/errors'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { releaseSpending } from '../../../budgets/budgets.ts'
import type { Context } from '../../../context.ts'
import { type LockerCreation, tagsOf } from '../../../lockers/create-locker.ts'
import { claim } from '../../claim.ts'
import type { PayRequest } from '../../store.ts'
import { type OpenPayment, settlementPending } from './errors.ts'
import { Refused, type SettlementOutcome, type Settler } from './settler.ts'
import { deleteSettlement, recordSearch, replaceTransaction, type Settlement } from './store.ts'

/** `locker` is null when the receipt already existed. */
export type Settled = { receipt: SignedReceipt; isNew: boolean; locker: LockerCreation | null }

/** The result for a quote that was paid earlier. */
export function earlier(receipt: SignedReceipt): Settled {
  return { receipt, isNew: false, locker: null }
}

/**
 * A settlement that failed or expired paid nothing and never will, so its row is deleted. An open one may still pay.
 */
export type SettlementResult = Settled | Open | 'failed' | 'expired'
type Open = { open: OpenPayment; settlement: Settlement; network: Network }

export function isSettled(outcome: SettlementResult | 'none'): outcome is Settled {
  return typeof outcome === 'object' && 'receipt' in outcome
}

export function isOpen(outcome: SettlementResult | 'none'): outcome is Open {
  return typeof outcome === 'object' && 'open' in outcome
}

export function settlerOf({ settlers }: Context, networkName: string): Settler | undefined {
  const network = networkNamed(networkName)
  return network ? settlers.get(network) : undefined
}

function legOf(request: PayRequest, settlement: Settlement): X402Leg {
  const { accepts } = JSON.parse(request.quote) as X402Quote
  const leg = accepts.find(
    ({ network, asset }) => networkNamed(network)?.name === settlement.network && asset === settlement.asset,
  )
  if (!leg) throw new Error(`the settlement in ${settlement.tx} belongs to no leg of its quote`)
  return leg
}

interface PaidLeg extends QuotedLeg {
  authorization?: string
}

/** A payment on an EVM chain is an authorization, which anyone may send; the payment has its id. */
export function authorizationOf({ network, payment_id }: Pick<Settlement, 'network' | 'payment_id'>): string | null {
  return networkNamed(network)?.family === 'evm' ? payment_id : null
}

export function paidLeg(request: PayRequest, settlement: Settlement): PaidLeg {
  const authorization = authorizationOf(settlement)
  return { ...quotedLeg(legOf(request, settlement)), ...(authorization && { authorization }) }
}

/**
 * Follows the recorded transaction of a quote to its outcome: the receipt of its payment, or the reason why it pays
 * nothing. Throws while the outcome is unknown.
 */
export async function finishSettlement(
  context: Context,
  request: PayRequest,
  settlement: Settlement,
): Promise<SettlementResult> {
  const leg = legOf(request, settlement)
  const paid = paidLeg(request, settlement)
  const reading = await watch(context, paid, settlement)
  if (reading.outcome === 'found') {
    const settled = await claimSettled(context, request, paid, reading, { payReqIds: [request.pay_req_id] })
    await releaseFee(context, settlement)
    return settled
  }
  requireFailure(reading)
  const found = reading.outcome === 'unavailable' ? PENDING : await outcomeOf(context, settlement, leg, reading.outcome)
  if (found.outcome === 'searching')
    await context.database.commit((tx) => recordSearch(tx, settlement, found.searchedTo))
  if (found.outcome === 'pending' || found.outcome === 'searching') throw settlementPending(paid.network, settlement.tx)
  // It may have landed while the settler was querying: read it once more.
  const tx = found.outcome === 'landed' ? found.tx : settlement.tx
  const last = await context.sales.reader(paid.network).read(tx, paid)
  if (last.outcome === 'found') {
    // Another sender has used the authorization, so their transaction is the one that pays.
    if (tx !== settlement.tx)
      await context.database.commit((dbTx) => replaceTransaction(dbTx, { ...settlement, tx }, settlement.tx))
    const settled = await claimSettled(context, request, paid, last, { payReqIds: last.references })
    if (tx === settlement.tx) await releaseFee(context, settlement)
    return settled
  }
  requireFailure(last)
  if (last.outcome === 'unavailable' || found.outcome === 'landed') throw settlementPending(paid.network, settlement.tx)
  if (found.outcome === 'open') {
    // A transaction that never landed costs no fee.
    if (!found.hasFailed) await releaseFee(context, settlement)
    return { open: { tx: settlement.tx, until: found.until }, settlement, network: paid.network }
  }
  await context.database.commit((tx) => deleteSettlement(tx, settlement))
  if (last.outcome === 'rejected') return 'failed'
  await releaseFee(context, settlement)
  return 'expired'
}

/** A successful payment covers its fee; an expired one had no cost. */
function releaseFee({ database }: Context, { tx: paid }: Settlement): Promise<void> {
  return database.commit((tx) => releaseSpending(tx, paid))
}

/** A transaction that landed without paying the quote stays recorded, so that nothing else is sent for the quote. */
function requireFailure(reading: ChainReading): void {
  if (reading.outcome === 'rejected' && reading.reason !== 'transaction_failed') throw paymentRefused(reading.reason)
}

const PENDING: SettlementOutcome = { outcome: 'pending' }

async function outcomeOf(
  context: Context,
  settlement: Settlement,
  leg: X402Leg,
  read: 'not_found' | 'rejected',
): Promise<SettlementOutcome> {
  const settler = settlerOf(context, settlement.network)
  if (!settler) return PENDING
  try {
    return await settler.outcome(settlement, leg, read === 'rejected')
  } catch (error) {
    if (error instanceof Refused) return PENDING
    throw error
  }
}

const INTERVALS = { intervalMs: 100, maxIntervalMs: 1000 }

/** Reads until the chain shows the transaction or the time is up. */
async function watch(context: Context, leg: PaidLeg, settlement: Settlement): Promise<ChainReading> {
  const reader = context.sales.reader(leg.network)
  let reading: ChainReading = { outcome: 'not_found' }
  const read = async () => {
    reading = await reader.read(settlement.tx, leg)
    return reading.outcome === 'not_found' || reading.outcome === 'unavailable' ? null : reading
  }
  return (await poll(read, { ...INTERVALS, timeoutMs: context.config.x402.waitSeconds * 1000 })) ?? reading
}

/** A recorded payment was sent before the quote expired, whenever it landed. */
const ANY_TIME = { createdAt: 0, expiresAt: Number.POSITIVE_INFINITY, skewSeconds: 0, now: 0 }

/** Receipt and locker are one commit, so that a buyer who does not return has both. */
export async function claimSettled(
  context: Context,
  request: PayRequest,
  leg: PaidLeg,
  payment: ChainPayment,
  terms: Pick<PaymentTerms, 'payReqIds'> & Partial<PaymentTerms>,
): Promise<Settled> {
  const judgement = judgePayment(payment, { amount: leg.amount, ...ANY_TIME, ...terms })
  if (!judgement.paid) throw paymentRefused(judgement.reason)
  const kind = leg.authorization === undefined ? 'single' : 'authorizations'
  const proof = { tx: payment.tx, kind, payment, quotes: [{ request, leg }] } as const
  const [settled] = await claim(context, proof, { lockers: { tags: tagsOf(request.quote) } })
  return settled
}
