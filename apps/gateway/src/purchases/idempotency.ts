// An Idempotency-Key stands for one quote, for a day (PAY-06, PAY-07, AMB-50).

import { hash } from 'node:crypto'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { type Context, unixNow } from '../context.ts'
import { findIdempotencyKey, findPayRequest, insertPayRequest, type PayRequest, takeIdempotencyKey } from './store.ts'

export const KEY_KEPT_SECONDS = 86_400

export function idempotencyKey({ headers }: WireRequest): string | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw new ValidationError({ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 visible ASCII characters' })
}

export interface KeyedOrder {
  key: string
  /** The declared fields of the body, in the form that 1.1.0 stores: each release replays the keys of the other. */
  order: readonly unknown[]
  /** The other fields of the body. */
  unknown: object
  /** Whether a quote was paid, or may have been: then it keeps its key even after it has expired. */
  isUsed(request: PayRequest): Promise<boolean>
  make(): Promise<PayRequest>
}

/** The quote of a key, made now if there is none. */
export async function quoteOnce(context: Context, keyed: KeyedOrder): Promise<PayRequest> {
  const { key, isUsed, make } = keyed
  const orderHash = hash('sha256', bodyText(keyed))
  for (;;) {
    const kept = await findKept(context, key, orderHash)
    if (kept?.request && (unixNow(context) <= kept.request.expires_at || (await isUsed(kept.request))))
      return kept.request
    const request = await make()
    const { pay_req_id, created_at } = request
    const isStored = await context.database.commit(async (tx) => {
      const taken = { idempotency_key: key, body_sha256: orderHash, pay_req_id, created_at }
      if (!(await takeIdempotencyKey(tx, taken, kept?.payReqId ?? null))) return false
      await insertPayRequest(tx, request)
      return true
    })
    // Otherwise another request took the key in between, and the next round returns its quote.
    if (isStored) return request
  }
}

/** The same text for the same body, however it was written. */
function bodyText({ order, unknown }: KeyedOrder): string {
  const body = Object.keys(unknown).length === 0 ? order : [...order, unknown]
  return JSON.stringify(body, (_key, value) => (isObject(value) ? sortedByKey(value) : value))
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sortedByKey(object: object): object {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function findKept(
  context: Context,
  key: string,
  orderHash: string,
): Promise<{ payReqId: string; request: PayRequest | null } | null> {
  const { db } = context.database
  const kept = await findIdempotencyKey(db, key)
  if (!kept) return null
  const payReqId = kept.pay_req_id
  if (kept.created_at <= unixNow(context) - KEY_KEPT_SECONDS) return { payReqId, request: null }
  if (kept.body_sha256 === orderHash) return { payReqId, request: await findPayRequest(db, payReqId) }
  throw new ServiceError('idempotency_conflict', 'this Idempotency-Key came with another body before', {
    hint: 'repeat the same body, or use a new key for a new purchase',
  })
}
