// The extension payment-identifier: a client names its purchase, so that trying again with another quote pays nothing.

import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../../context.ts'
import { KEY_KEPT_SECONDS } from '../../idempotency.ts'
import {
  findIdempotencyKey,
  findPayRequest,
  findReceiptOfRequest,
  type PayRequest,
  releaseIdempotencyKey,
  takeIdempotencyKey,
} from '../../store.ts'
import { findSettlement } from './store.ts'

/**
 * The quote that an identifier stands for, for a day: this one, or an earlier one that was paid under it, or may have
 * been. An identifier of another order is refused, and so is one whose quote can still be paid.
 */
export async function identifiedQuote(context: Context, id: string, request: PayRequest): Promise<PayRequest> {
  const { db, commit } = context.database
  const idempotency_key = keyOf(id)
  const { pay_req_id } = request
  for (;;) {
    const now = unixNow(context)
    const kept = await findIdempotencyKey(db, idempotency_key)
    if (kept?.pay_req_id === pay_req_id) return request
    const isKept = kept !== null && kept.created_at > now - KEY_KEPT_SECONDS
    const earlier = isKept ? await findPayRequest(db, kept.pay_req_id) : null
    if (earlier) {
      const isSameOrder = earlier.units === request.units && earlier.provider === request.provider
      const isUsed = await isPaid(context, earlier)
      if (isUsed && isSameOrder) return earlier
      if (isUsed || now <= earlier.expires_at) throw identifierConflict()
    }
    const taken = { idempotency_key, body_sha256: '', pay_req_id, created_at: now }
    if (await commit((tx) => takeIdempotencyKey(tx, taken, kept?.pay_req_id ?? null))) return request
  }
}

/** After a payment that never pays, the identifier may be used with another quote. */
export async function releaseIdentifier(context: Context, id: string, request: PayRequest): Promise<void> {
  if (await isPaid(context, request)) return
  await context.database.commit((tx) => releaseIdempotencyKey(tx, keyOf(id), request.pay_req_id))
}

async function isPaid({ database }: Context, { pay_req_id }: PayRequest): Promise<boolean> {
  const { db } = database
  return Boolean((await findReceiptOfRequest(db, pay_req_id)) ?? (await findSettlement(db, pay_req_id)))
}

/** With a space, which no Idempotency-Key has. */
function keyOf(id: string): string {
  return `payment-identifier ${id}`
}

export function identifierConflict(): ServiceError {
  return new ServiceError('idempotency_conflict', 'this payment identifier is of another purchase; nothing was sent', {
    hint: 'repeat the PAYMENT-SIGNATURE that came with it first, or name a new purchase with a new identifier',
  })
}
