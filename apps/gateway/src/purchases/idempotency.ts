// An Idempotency-Key stands for one quote, for a day (PAY-06, PAY-07).

import { hash } from 'node:crypto'
import { addressKey } from '@svc/service/guard/address-key'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import {
  findIdempotencyKey,
  findPayRequest,
  insertPayRequest,
  type KeptKey,
  type PayRequest,
  takeIdempotencyKey,
} from './store.ts'

export const KEY_KEPT_SECONDS = 86_400

export interface IdempotencyKey {
  /** What the key is kept as. */
  name: string
  /** What release 1.1.0 keeps it as, for clients of any address; null where that is the same. */
  unbound: string | null
}

/** A key that may be guessed is bound to the address of its client. */
export function idempotencyKey({ headers, clientAddress }: WireRequest): IdempotencyKey | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ValidationError({ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 visible ASCII characters' })
  if (isRandom(key)) return { name: key, unbound: null }
  // With a space, which no key has. Hashed, so that the database does not list who asked from where.
  return { name: `bound ${hash('sha256', `${addressKey(clientAddress)} ${key}`)}`, unbound: key }
}

/** UUIDs of the random versions, 4 and 7, and 32 or more hexadecimal digits. */
const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{32,}/

/** Counters, dates and what is typed by hand may have the form, but only a few different digits or no letter. */
function isRandom(key: string): boolean {
  const [digits = ''] = RANDOM.exec(key.toLowerCase()) ?? []
  return /[a-f]/.test(digits) && new Set(digits.replaceAll('-', '')).size >= 8
}

export interface KeyedOrder {
  key: IdempotencyKey
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
      const taken = { idempotency_key: key.name, body_sha256: orderHash, pay_req_id, created_at }
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
  { name, unbound }: IdempotencyKey,
  orderHash: string,
): Promise<{ payReqId: string | null; request: PayRequest | null } | null> {
  const { db } = context.database
  const isFresh = ({ created_at }: KeptKey) => created_at > unixNow(context) - KEY_KEPT_SECONDS
  const kept = await findIdempotencyKey(db, name)
  if (kept) {
    const payReqId = kept.pay_req_id
    if (!isFresh(kept)) return { payReqId, request: null }
    if (kept.body_sha256 === orderHash) return { payReqId, request: await findPayRequest(db, payReqId) }
    throw new ServiceError('idempotency_conflict', 'this Idempotency-Key came with another body before', {
      hint: 'repeat the same body, or use a new key for a new purchase',
    })
  }
  // Never a conflict: it may be a stranger's key.
  const earlier = unbound === null ? null : await findIdempotencyKey(db, unbound)
  if (!earlier || !isFresh(earlier) || earlier.body_sha256 !== orderHash) return null
  return { payReqId: null, request: await findPayRequest(db, earlier.pay_req_id) }
}
