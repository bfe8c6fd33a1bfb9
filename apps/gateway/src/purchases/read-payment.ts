import { ServiceError } from '@svc/http-service/service-error'
import { judgePayment } from '@svc/payments/judge-payment'
import type { ChainReading } from '@svc/payments/payment'
import { type Context, unixNow } from '../context.ts'
import type { QuotedLeg } from './paid-leg.ts'
import { chainUnavailable, quoteExpired, txNotFound } from './payment-errors.ts'
import type { PayRequest } from './store.ts'

export interface Purchase {
  request: PayRequest
  /** Of the request's quote. */
  leg: QuotedLeg
}

/**
 * What the chain says of a transaction as the payment of purchases with one destination: the payment, if it is good
 * for all of them together, or why it is not. `payReqIds` are the quotes that the transaction may name.
 */
export async function readPayment(
  context: Context,
  tx: string,
  purchases: readonly [Purchase, ...Purchase[]],
  payReqIds: readonly string[],
): Promise<Extract<ChainReading, { outcome: 'found' | 'rejected' }>> {
  const [{ leg }] = purchases
  const reading = await context.sales.reader(leg.network).read(tx, leg)
  switch (reading.outcome) {
    case 'unavailable':
      context.log.warn({ network: leg.network.name, problem: reading.problem }, 'a chain could not be read')
      throw chainUnavailable()
    case 'not_found':
      throw txNotFound(leg.network)
    case 'rejected':
      return reading
  }
  const amount = purchases.reduce((sum, purchase) => sum + purchase.leg.amount, 0n)
  const { timeSkewSeconds: skewSeconds } = context.config.payments
  for (const { request } of purchases) {
    const { created_at: createdAt, expires_at: expiresAt } = request
    const terms = { amount, payReqIds, createdAt, expiresAt, skewSeconds, now: unixNow(context) }
    const judgement = judgePayment(reading, terms)
    if (!judgement.paid) return { outcome: 'rejected', reason: judgement.reason }
  }
  return reading
}

/**
 * A quote is over for payments, not for the paperwork: one that was paid in time may be confirmed later, and
 * everything else about a quote that is over is 410 (AMB-06).
 */
export async function inQuoteTime<Payment>(
  context: Context,
  requests: readonly PayRequest[],
  read: () => Promise<Payment>,
): Promise<Payment> {
  const now = unixNow(context)
  const end = Math.min(...requests.map(({ expires_at }) => expires_at))
  if (now <= end) return read()
  if (now > end + context.config.payments.lateConfirmSeconds) throw quoteExpired()
  try {
    return await read()
  } catch (error) {
    throw error instanceof ServiceError ? quoteExpired() : error
  }
}
