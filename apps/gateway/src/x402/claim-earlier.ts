// A payment that is on chain and of which nothing is noted: the database was set back after it was sent.

import type { ServiceError } from '@svc/http-service/service-error'
import type { ChainPayment } from '@svc/payments/payment'
import { quotedLeg } from '@svc/sales/read-payment'
import { notSettled, settlementPending } from './errors.ts'
import { authorizationOf, claim, type Settled, settlerOf } from './finish-settlement.ts'
import type { X402Context } from './room.ts'
import { Refused, type SignedPayment } from './settler.ts'

/**
 * The receipt of a signed payment that was made before. Throws `refusal` where it was not; where what was signed is used,
 * a refusal without an offer, because whoever signs once more might pay twice (T-157).
 */
export async function claimEarlier(
  context: X402Context,
  payment: SignedPayment,
  refusal: ServiceError,
): Promise<Settled> {
  const { request, leg, id } = payment
  const { network, ...quoted } = quotedLeg(leg)
  const use = await findUse(context, payment)
  if (use === null) throw refusal
  if (use.tx === null) throw usedElsewhere()
  // Read as a whole, not by its authorization: then it tells which quote it names.
  const reading = await context.sales.reader(network).read(use.tx, quoted)
  if (reading.outcome === 'not_found' || reading.outcome === 'unavailable') throw settlementPending(network, use.tx)
  const authorization = authorizationOf({ network: network.name, payment_id: id })
  if (reading.outcome === 'rejected' || !isAlone(reading, authorization)) throw usedElsewhere()
  const paid = { network, ...quoted, ...(authorization && { authorization }) }
  return claim(context, request, paid, reading, {
    payReqIds: [request.pay_req_id],
    createdAt: request.created_at,
    skewSeconds: context.config.payments.timeSkewSeconds,
  })

  function usedElsewhere(): ServiceError {
    return notSettled({ why: 'used', reason: 'transaction_already_used' }, leg)
  }
}

async function findUse(
  context: X402Context,
  { request, leg, payload }: SignedPayment,
): Promise<{ tx: string | null } | null> {
  const settler = settlerOf(context, quotedLeg(leg).network.name)
  const since = request.created_at - context.config.payments.timeSkewSeconds
  try {
    return (await settler?.findUse(payload, leg, since)) ?? null
  } catch (error) {
    throw error instanceof Refused ? notSettled(error.refusal, leg) : error
  }
}

/** What others paid in the same transaction would count for this payer. */
function isAlone({ authorizations }: ChainPayment, own: string | null): boolean {
  return authorizations.every((id) => id === own)
}
