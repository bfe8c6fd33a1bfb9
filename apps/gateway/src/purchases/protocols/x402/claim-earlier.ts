// Finds payments that are on chain but not in the database, because the database was restored after they were sent.

import type { X402Leg } from '@svc/api/x402'
import type { ChainPayment } from '@svc/payments/payment'
import { quotedLeg } from '@svc/payments/selling/confirm'
import { paymentReference } from '@svc/protocol/ids'
import type { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../../context.ts'
import { notSettled, settlementPending } from './errors.ts'
import { authorizationOf, claimSettled, type Settled, settlerOf } from './finish-settlement.ts'
import { Refused, type SignedPayment } from './settler.ts'

/**
 * The receipt of an earlier signed payment. Throws `refusal` if there was none. If the signature is used, throws an
 * error without an offer, because a payer who signs again might pay twice (T-67).
 */
export async function claimEarlier(context: Context, payment: SignedPayment, refusal: ServiceError): Promise<Settled> {
  const { request, leg, id } = payment
  const { network, ...quoted } = quotedLeg(leg)
  const use = await findUse(context, payment)
  if (use === null) throw refusal
  if (use.tx === null) throw usedElsewhere()
  // Read by transaction instead of by authorization, so that the result includes the quote that it names.
  const reading = await context.sales.reader(network).read(use.tx, quoted)
  if (reading.outcome === 'not_found' || reading.outcome === 'unavailable') throw settlementPending(network, use.tx)
  const authorization = authorizationOf({ network: network.name, payment_id: id })
  if (reading.outcome === 'rejected' || !isAlone(reading, authorization)) throw usedElsewhere()
  const paid = { network, ...quoted, ...(authorization && { authorization }) }
  return claimSettled(context, request, paid, reading, {
    payReqIds: [request.pay_req_id],
    createdAt: request.created_at,
    skewSeconds: context.config.payments.timeSkewSeconds,
  })

  function usedElsewhere(): ServiceError {
    return notSettled({ why: 'used', reason: 'transaction_already_used' }, leg)
  }
}

/** A fresh quote is usually signed within seconds; a repeated call comes later. */
const REPEATED_AFTER_SECONDS = 15

/**
 * The receipt of an unrecorded payment of the quote by the same payer: a call that is repeated under its
 * Idempotency-Key gets the same quote and signs another payment for it (T-67). Null for none.
 */
export async function claimSamePayer(context: Context, payment: SignedPayment): Promise<Settled | null> {
  const { request, leg, payload, isKeyed } = payment
  if (!isKeyed || unixNow(context) < request.created_at + REPEATED_AFTER_SECONDS) return null
  const { network, ...quoted } = quotedLeg(leg)
  const reference = paymentReference(request.pay_req_id)
  const settler = settlerOf(context, network.name)
  if (!settler || (await settler.signer(payload, leg)) === null) return null
  const since = request.created_at - context.config.payments.timeSkewSeconds
  const found = await unlessRefused(leg, () => settler.findPayments(payload, leg, since))
  for (const tx of found) {
    const reading = await context.sales.reader(network).read(tx, quoted)
    if (reading.outcome === 'not_found' || reading.outcome === 'unavailable') throw settlementPending(network, tx)
    if (reading.outcome === 'rejected' || !reading.references.includes(reference)) continue
    const [authorization = null] = reading.authorizations
    if (!isAlone(reading, authorization)) continue
    const paid = { network, ...quoted, ...(authorization && { authorization }) }
    return claimSettled(context, request, paid, reading, { payReqIds: [request.pay_req_id] })
  }
  return null
}

async function findUse(
  context: Context,
  { request, leg, payload }: SignedPayment,
): Promise<{ tx: string | null } | null> {
  const settler = settlerOf(context, quotedLeg(leg).network.name)
  const since = request.created_at - context.config.payments.timeSkewSeconds
  return (await unlessRefused(leg, async () => settler?.findUse(payload, leg, since))) ?? null
}

async function unlessRefused<Found>(leg: X402Leg, find: () => Promise<Found>): Promise<Found> {
  try {
    return await find()
  } catch (error) {
    throw error instanceof Refused ? notSettled(error.refusal, leg) : error
  }
}

/** Otherwise payments by others in the same transaction would count for this payer. */
function isAlone({ authorizations }: ChainPayment, own: string | null): boolean {
  return authorizations.every((id) => id === own)
}
