// From a signed payment to its receipt. A settlement is recorded before it is sent. After an interruption, the recorded
// transaction is resolved on chain before another one is sent for the quote.

import type { Network } from '@svc/api/networks'
import { quotedLeg } from '@svc/payments/selling/confirm'
import { quoteExpired } from '@svc/payments/selling/errors'
import { ServiceError } from '@svc/service/service-error'
import { checkBudget, HOUR, type Limit, type Refusal, releaseSpending, spend } from '../../../budgets/budgets.ts'
import { type Context, unixNow } from '../../../context.ts'
import { assignAuthorization, findReceiptOfRequest, type PayRequest } from '../../store.ts'
import { RESUME_SECONDS } from '../../sweep.ts'
import { claimEarlier, claimSamePayer } from './claim-earlier.ts'
import { cannotSettle, earlierPaymentOpen, notSettled, paymentFailed, tooManyFailed } from './errors.ts'
import {
  authorizationOf,
  finishSettlement,
  isOpen,
  isSettled,
  paidLeg,
  type Settled,
  type SettlementResult,
  settlerOf,
} from './finish-settlement.ts'
import type { SettlementOrder, SignedPayment } from './settler.ts'
import {
  deleteSettlement,
  findOpenSettlements,
  findQuoteOfPayment,
  findSettlement,
  insertSettlement,
  replaceTransaction,
  type Settlement,
  type SettlementPosition,
} from './store.ts'

export async function settlePayment(context: Context, payment: SignedPayment): Promise<Settled> {
  const { request, leg } = payment
  const { db } = context.database
  const { network } = quotedLeg(leg)
  const quoteOfPayment = await findQuoteOfPayment(db, network.name, payment.id)
  if (quoteOfPayment !== null && quoteOfPayment !== request.pay_req_id) throw alreadyUsed()
  const earlier = await resumeSettlement(context, request)
  if (isSettled(earlier)) return earlier
  const open = isOpen(earlier) ? earlier : null
  // Only the payment that is still open may be sent again, even after the quote has expired: it was valid once.
  if (open && quoteOfPayment === null) throw earlierPaymentOpen(open.network, open.open)
  if (!open && unixNow(context) > request.expires_at)
    return claimEarlier(context, payment, quoteExpired(request.expires_at, unixNow(context)))
  const paidBefore = open ? null : await claimSamePayer(context, payment)
  if (paidBefore) return paidBefore
  requireShortLife(context, payment)
  const settler = settlerOf(context, network.name)
  if (!settler) throw cannotSettle()
  const overBudget = await checkBudget(db, context, {
    budget: budgetOf(network),
    limits: [addressLimit(context, payment)],
  })
  if (overBudget) throw tooManyFailed(overBudget, network, unixNow(context))
  const refusal = await settler.settle({ ...payment, record: recorderOf(context, payment, open?.settlement) })
  const settlement = await findSettlement(db, request.pay_req_id)
  const isSent = settlement && settlement.tx !== open?.settlement.tx
  if (refusal?.why === 'unavailable' && !isSent) throw notSettled(refusal, leg)
  if (refusal && !isSent) return claimEarlier(context, payment, notSettled(refusal, leg))
  if (!settlement) throw alreadyUsed()
  const outcome = await finishSettlement(context, request, settlement)
  if (isSettled(outcome)) return outcome
  if (isOpen(outcome)) throw paymentFailed(network, outcome.open)
  throw notSettled(
    outcome === 'failed'
      ? { why: 'invalid', reason: 'transaction_failed' }
      : { why: 'unavailable', problem: 'the chain rejected the transaction' },
    leg,
  )

  function alreadyUsed() {
    return notSettled({ why: 'invalid', reason: 'transaction_already_used' }, leg)
  }
}

/** An authorization that outlives the search for it could pay without a receipt. */
function requireShortLife(context: Context, { payload, leg }: SignedPayment): void {
  if (!('authorization' in payload)) return
  if (BigInt(payload.authorization.validBefore) <= BigInt(unixNow(context) + RESUME_SECONDS)) return
  throw notSettled({ why: 'invalid', reason: 'authorization_valid_too_long' }, leg)
}

/** Finishes an earlier settlement of the quote. */
export async function resumeSettlement(context: Context, request: PayRequest): Promise<SettlementResult | 'none'> {
  const settlement = await findSettlement(context.database.db, request.pay_req_id)
  if (!settlement) return 'none'
  const { tx, network } = settlement
  const leg = paidLeg(request, settlement)
  const { outcome } = await context.sales.reader(leg.network).read(tx, leg)
  // A gateway may have stopped between recording and sending. If the quote was paid since, it must not be paid again.
  if (outcome === 'not_found' && !(await findReceiptOfRequest(context.database.db, request.pay_req_id)))
    await settlerOf(context, network)?.resend(settlement)
  return finishSettlement(context, request, settlement)
}

const RESUME_BATCH = 50

/**
 * Finishes the settlements of buyers who did not return: every buyer who paid gets a receipt and a locker. Pages
 * through all of them: after an outage many wait, and those that cannot finish yet must not delay the others.
 */
export async function resumeSettlements(context: Context, batchSize = RESUME_BATCH): Promise<void> {
  const now = unixNow(context)
  const expired = { after: now - RESUME_SECONDS, before: now }
  let position: SettlementPosition | null = null
  do {
    const page = await findOpenSettlements(context.database.db, expired, batchSize, position)
    await Promise.all(page.requests.map((request) => resumeQuietly(context, request)))
    position = page.last
  } while (position)
}

async function resumeQuietly(context: Context, request: PayRequest): Promise<void> {
  try {
    await resumeSettlement(context, request)
  } catch (error) {
    // It is still pending or was rejected: the buyer would get the same answer.
    if (!(error instanceof ServiceError)) throw error
  }
}

/**
 * Records a payment and counts its fee, which is released when the payment succeeds: a payer may let payments fail
 * after simulation, and each costs the gateway a fee (T-34). Throws, recording nothing, when too many have failed. From
 * then on its authorization belongs to this quote alone, no matter who sends it (T-46). `failed` is an earlier attempt
 * of the same payment, whose fee is lost.
 */
function recorderOf(context: Context, payment: SignedPayment, failed?: Settlement): SettlementOrder['record'] {
  const { pay_req_id } = payment.request
  const { network: on } = quotedLeg(payment.leg)
  const network = on.name
  const authorization_id = authorizationOf({ network, payment_id: payment.id })
  return async ({ payer, maxFee, ...sent }, replacing) => {
    const recorded = await context.database.commit(async (tx): Promise<boolean | Refusal> => {
      const settlement = {
        pay_req_id,
        network,
        asset: payment.leg.asset,
        payment_id: payment.id,
        searched_to: null,
        ...sent,
      }
      const previous = replacing ?? failed?.tx
      const isRecorded = await (previous === undefined
        ? insertSettlement(tx, settlement)
        : replaceTransaction(tx, settlement, previous))
      if (!isRecorded) return false
      if (replacing !== undefined) await releaseSpending(tx, replacing)
      const limits = [payerLimit(context, payer), addressLimit(context, payment)]
      const refusal = await spend(tx, context, { budget: budgetOf(on), tx: sent.tx, amount: maxFee, limits })
      if (refusal) {
        if (failed) await replaceTransaction(tx, failed, sent.tx)
        else await deleteSettlement(tx, settlement)
        return refusal
      }
      if (!authorization_id || (await assignAuthorization(tx, { network, authorization_id, pay_req_id }))) return true
      await deleteSettlement(tx, settlement)
      await releaseSpending(tx, sent.tx)
      return false
    })
    if (typeof recorded === 'object') throw tooManyFailed(recorded, on, unixNow(context))
    return recorded
  }
}

function payerLimit({ config }: Context, payer: string): Limit {
  const { failedPerPayer: count, lostPercent: percentOfDay } = config.budgets
  return { who: `payer ${payer}`, count, seconds: HOUR, percentOfDay }
}

function addressLimit({ config }: Context, { address }: SignedPayment): Limit {
  const { failedPerAddress: count, lostPercent: percentOfDay } = config.budgets
  return { who: `address ${address}`, count, seconds: HOUR, percentOfDay }
}

function budgetOf({ family }: Network): 'x402_evm' | 'x402_primary' {
  return family === 'evm' ? 'x402_evm' : 'x402_primary'
}
