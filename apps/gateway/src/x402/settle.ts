// From a signed payment to its receipt. A settlement is noted before it is sent. After an interruption the noted
// transaction is resolved on chain before another is sent for the quote.

import type { X402Leg, X402Quote } from '@svc/api/x402'
import { poll } from '@svc/concurrency/retry'
import { ServiceError } from '@svc/http-service/service-error'
import { type Network, networkNamed } from '@svc/payments/networks'
import { type ChainReading, judgePayment } from '@svc/payments/payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { paymentRefused, quoteExpired } from '@svc/sales/errors'
import { type QuotedLeg, quotedLeg } from '@svc/sales/read-payment'
import { checkBudget, giveBack, HOUR, type Limit, type Refusal, spend } from '../budgets/budgets.ts'
import { unixNow } from '../context.ts'
import { claimPayment } from '../purchases/claim-payments.ts'
import { newReceipt } from '../purchases/confirm-payment.ts'
import { type PayRequest, takeAuthorization } from '../purchases/store.ts'
import { RESUME_SECONDS } from '../purchases/sweep-quotes.ts'
import { cannotSettle, notSettled, settlementPending, tooManyFailed } from './errors.ts'
import type { X402Context } from './room.ts'
import { Refused, type SettlementOrder, type SettlementOutcome, type Settler } from './settler.ts'
import {
  deleteSettlement,
  findOpenSettlements,
  findQuoteOfPayment,
  findSettlement,
  insertSettlement,
  replaceTransaction,
  type Settlement,
} from './store.ts'

export interface SignedPayment {
  request: PayRequest
  leg: X402Leg
  payload: SettlementOrder['payload']
  /** `Settler.paymentId`. */
  id: string
  /** The client's address, as rate limits count it. */
  address: string
}

type Settled = { receipt: SignedReceipt; isNew: boolean }

/** A settlement that failed or expired paid nothing and never will: its row is deleted. */
type Outcome = Settled | 'failed' | 'expired'

export async function settlePayment(context: X402Context, payment: SignedPayment): Promise<Settled> {
  const { request, leg } = payment
  const { db } = context.database
  const { network } = quotedLeg(leg)
  const quoteOfPayment = await findQuoteOfPayment(db, network.name, payment.id)
  if (quoteOfPayment !== null && quoteOfPayment !== request.pay_req_id) throw alreadyUsed()
  const earlier = await resumeSettlement(context, request)
  if (typeof earlier === 'object') return earlier
  if (unixNow(context) > request.expires_at) throw quoteExpired()
  const settler = settlerOf(context, network.name)
  if (!settler) throw cannotSettle()
  const overBudget = await checkBudget(db, context, {
    budget: budgetOf(network),
    limits: [addressLimit(context, payment)],
  })
  if (overBudget) throw tooManyFailed(overBudget, network, unixNow(context))
  const refusal = await settler.settle({ ...payment, note: noteFor(context, payment) })
  const settlement = await findSettlement(db, request.pay_req_id)
  if (!settlement) throw refusal ? notSettled(refusal, network) : alreadyUsed()
  const outcome = await finish(context, request, settlement)
  if (typeof outcome === 'object') return outcome
  throw notSettled(
    outcome === 'failed'
      ? { why: 'invalid', reason: 'transaction_failed' }
      : { why: 'unavailable', problem: 'the chain did not take the transaction' },
    network,
  )

  function alreadyUsed() {
    return notSettled({ why: 'invalid', reason: 'transaction_already_used' }, network)
  }
}

/** Finishes an earlier settlement of the quote. */
export async function resumeSettlement(context: X402Context, request: PayRequest): Promise<Outcome | 'none'> {
  const settlement = await findSettlement(context.database.db, request.pay_req_id)
  if (!settlement) return 'none'
  const { tx, network } = settlement
  const leg = paidLeg(request, settlement)
  const { outcome } = await context.sales.reader(leg.network).read(tx, leg)
  // A gateway may have stopped between noting and sending.
  if (outcome === 'not_found') await settlerOf(context, network)?.resend(settlement)
  return finish(context, request, settlement)
}

const RESUME_LIMIT = 50

/** Finishes the settlements of buyers who did not come back: every buyer who paid gets a receipt. */
export async function resumeSettlements(context: X402Context): Promise<void> {
  const now = unixNow(context)
  const expired = { after: now - RESUME_SECONDS, before: now }
  const requests = await findOpenSettlements(context.database.db, expired, RESUME_LIMIT)
  await Promise.all(
    requests.map(async (request) => {
      try {
        await resumeSettlement(context, request)
      } catch (error) {
        // It is still pending, or was refused: the buyer would get the same answer.
        if (!(error instanceof ServiceError)) throw error
      }
    }),
  )
}

/**
 * Notes a payment and counts its fee, which is given back when the payment succeeds: a payer may let payments fail after
 * they were simulated, and each costs the gateway a fee (T-34). Throws, with nothing noted, where too many have failed.
 * From then on its authorization is for this quote alone, whoever sends it (T-46).
 */
function noteFor(context: X402Context, payment: SignedPayment): SettlementOrder['note'] {
  const { pay_req_id } = payment.request
  const { network: on } = quotedLeg(payment.leg)
  const network = on.name
  const authorization_id = authorizationOf({ network, payment_id: payment.id })
  return async ({ payer, maxFee, ...sent }, replacing) => {
    const noted = await context.database.db.transaction().execute(async (tx): Promise<boolean | Refusal> => {
      const settlement = { pay_req_id, network, asset: payment.leg.asset, payment_id: payment.id, ...sent }
      if (replacing === undefined) {
        if (!(await insertSettlement(tx, settlement))) return false
      } else {
        if (!(await replaceTransaction(tx, settlement, replacing))) return false
        await giveBack(tx, replacing)
      }
      const limits = [payerLimit(context, payer), addressLimit(context, payment)]
      const refusal = await spend(tx, context, { budget: budgetOf(on), tx: sent.tx, amount: maxFee, limits })
      if (refusal) {
        await deleteSettlement(tx, settlement)
        return refusal
      }
      if (!authorization_id || (await takeAuthorization(tx, { network, authorization_id, pay_req_id }))) return true
      await deleteSettlement(tx, settlement)
      await giveBack(tx, sent.tx)
      return false
    })
    if (typeof noted === 'object') throw tooManyFailed(noted, on, unixNow(context))
    return noted
  }
}

function payerLimit({ config }: X402Context, payer: string): Limit {
  return { who: `payer ${payer}`, count: config.budgets.failedPerPayer, seconds: HOUR }
}

function addressLimit({ config }: X402Context, { address }: SignedPayment): Limit {
  return { who: `address ${address}`, count: config.budgets.failedPerAddress, seconds: HOUR }
}

function budgetOf({ family }: Network): 'x402_evm' | 'x402_primary' {
  return family === 'evm' ? 'x402_evm' : 'x402_primary'
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
  if (!leg) throw new Error(`the settlement in ${settlement.tx} is of no leg of its quote`)
  return leg
}

interface PaidLeg extends QuotedLeg {
  authorization?: string
}

/** A payment on the EVM chain is an authorization, which anybody may send; the payment has its id. */
function authorizationOf({ network, payment_id }: Pick<Settlement, 'network' | 'payment_id'>): string | null {
  return networkNamed(network)?.family === 'evm' ? payment_id : null
}

function paidLeg(request: PayRequest, settlement: Settlement): PaidLeg {
  const authorization = authorizationOf(settlement)
  return { ...quotedLeg(legOf(request, settlement)), ...(authorization && { authorization }) }
}

async function finish(context: X402Context, request: PayRequest, settlement: Settlement): Promise<Outcome> {
  const leg = legOf(request, settlement)
  const paid = paidLeg(request, settlement)
  const reading = await watch(context, paid, settlement)
  if (reading.outcome === 'found') {
    const settled = await claim(context, request, paid, reading, [request.pay_req_id])
    await giveBackFee(context, settlement)
    return settled
  }
  requireFailure(reading)
  const found = reading.outcome === 'unavailable' ? PENDING : await outcomeOf(context, settlement, leg, reading.outcome)
  if (found.outcome === 'pending') throw settlementPending(paid.network, settlement.tx)
  // It may have landed while the settler asked: read it once more.
  const tx = found.outcome === 'landed' ? found.tx : settlement.tx
  const last = await context.sales.reader(paid.network).read(tx, paid)
  if (last.outcome === 'found') {
    const settled = await claim(context, request, paid, last, last.references)
    if (tx === settlement.tx) await giveBackFee(context, settlement)
    return settled
  }
  requireFailure(last)
  if (last.outcome === 'unavailable' || found.outcome === 'landed') throw settlementPending(paid.network, settlement.tx)
  await deleteSettlement(context.database.db, settlement)
  if (last.outcome === 'rejected') return 'failed'
  await giveBackFee(context, settlement)
  return 'expired'
}

/** A payment that succeeded pays for its fee; one that expired has cost none. */
function giveBackFee({ database }: X402Context, { tx: paid }: Settlement): Promise<void> {
  return database.db.transaction().execute((tx) => giveBack(tx, paid))
}

/** A transaction that landed without paying the quote stays noted, so that nothing else is sent for the quote. */
function requireFailure(reading: ChainReading): void {
  if (reading.outcome === 'rejected' && reading.reason !== 'transaction_failed') throw paymentRefused(reading.reason)
}

const PENDING: SettlementOutcome = { outcome: 'pending' }

async function outcomeOf(
  context: X402Context,
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
async function watch(context: X402Context, leg: PaidLeg, settlement: Settlement): Promise<ChainReading> {
  const reader = context.sales.reader(leg.network)
  let reading: ChainReading = { outcome: 'not_found' }
  const read = async () => {
    reading = await reader.read(settlement.tx, leg)
    return reading.outcome === 'not_found' || reading.outcome === 'unavailable' ? null : reading
  }
  return (await poll(read, { ...INTERVALS, timeoutMs: context.config.x402.waitSeconds * 1000 })) ?? reading
}

/** Ignores when the payment landed: it was sent before the quote expired. */
async function claim(
  context: X402Context,
  request: PayRequest,
  leg: PaidLeg,
  payment: Extract<ChainReading, { outcome: 'found' }>,
  payReqIds: readonly string[],
): Promise<Settled> {
  const anyTime = { createdAt: 0, expiresAt: Number.POSITIVE_INFINITY, skewSeconds: 0, now: 0 }
  const judgement = judgePayment(payment, { amount: leg.amount, payReqIds, ...anyTime })
  if (!judgement.paid) throw paymentRefused(judgement.reason)
  const receipt = newReceipt(context, request, leg, payment)
  const { authorization } = leg
  return claimPayment(context, { receipt, payment, ...(authorization !== undefined && { authorization }) })
}
