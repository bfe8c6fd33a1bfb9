// The extension payment-identifier: a client names its purchase, so that a retry with another quote pays nothing.

import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../../context.ts'
import { KEY_LIFETIME_SECONDS } from '../../idempotency.ts'
import {
  assignIdempotencyKey,
  findIdempotencyKey,
  findPayRequest,
  findReceiptOfRequest,
  type PayRequest,
  releaseIdempotencyKey,
} from '../../store.ts'
import { findSettlement } from './store.ts'

/**
 * The quote of an identifier, for a day: this quote, or an earlier one that was paid, or may have been, under the
 * identifier. Rejects an identifier of a different order or of a quote that can still be paid.
 */
export async function identifiedQuote(context: Context, id: string, request: PayRequest): Promise<PayRequest> {
  const { db, commit } = context.database
  const idempotency_key = keyOf(id)
  const { pay_req_id } = request
  for (;;) {
    const now = unixNow(context)
    const stored = await findIdempotencyKey(db, idempotency_key)
    if (stored?.pay_req_id === pay_req_id) return request
    const isCurrent = stored !== null && stored.created_at > now - KEY_LIFETIME_SECONDS
    const earlier = isCurrent ? await findPayRequest(db, stored.pay_req_id) : null
    if (earlier) {
      const isSameOrder = earlier.units === request.units && earlier.provider === request.provider
      const isUsed = await isPaid(context, earlier)
      if (isUsed && isSameOrder) return earlier
      if (isUsed || now <= earlier.expires_at) throw identifierConflict()
    }
    const taken = { idempotency_key, body_sha256: '', pay_req_id, created_at: now }
    if (await commit((tx) => assignIdempotencyKey(tx, taken, stored?.pay_req_id ?? null))) return request
  }
}

/** After a payment that can never pay, the identifier may be used with another quote. */
export async function releaseIdentifier(context: Context, id: string, request: PayRequest): Promise<void> {
  if (await isPaid(context, request)) return
  await context.database.commit((tx) => releaseIdempotencyKey(tx, keyOf(id), request.pay_req_id))
}

async function isPaid({ database }: Context, { pay_req_id }: PayRequest): Promise<boolean> {
  const { db } = database
  return Boolean((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id)))
}

/** Contains a space, which no Idempotency-Key does. */
function keyOf(id: string): string {
  return `payment-identifier ${id}`
}

export function identifierConflict(): ServiceError {
  return new ServiceError(
    'idempotency_conflict',
    'this payment identifier belongs to another purchase; nothing was sent',
    {
      hint: 'repeat the first PAYMENT-SIGNATURE with this identifier, or use a new identifier for a new purchase',
    },
  )
}
