// An Idempotency-Key identifies one quote for a day (PAY-06, PAY-07).

import { hash } from 'node:crypto'
import { addressKey } from '@svc/service/guard/address-key'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import {
  assignIdempotencyKey,
  findIdempotencyKey,
  findPayRequest,
  insertPayRequest,
  type PayRequest,
  type StoredKey,
} from './store.ts'

export const KEY_LIFETIME_SECONDS = 86_400

export interface IdempotencyKey {
  /** The stored form of the key. */
  name: string
  /** The form that release 1.1.0 stores, for clients of any address; null when it is the same. */
  unbound: string | null
}

/** A guessable key is bound to the address of its client. */
export function idempotencyKey({ headers, clientAddress }: WireRequest): IdempotencyKey | null {
  const key = headers['idempotency-key']
  if (key === undefined) return null
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new ValidationError({ loc: ['header', 'Idempotency-Key'], msg: 'must be 1 to 255 visible ASCII characters' })
  if (isRandom(key)) return { name: key, unbound: null }
  // The stored name contains a space, which no key does. It is hashed, so that the database does not list client
  // addresses.
  return { name: `bound ${hash('sha256', `${addressKey(clientAddress)} ${key}`)}`, unbound: key }
}

/** UUIDs of the random versions 4 and 7, and 32 or more hexadecimal digits. */
const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|[0-9a-f]{32,}/

/** Counters, dates and typed text may match the pattern, but have few different digits or no letter. */
function isRandom(key: string): boolean {
  const [digits = ''] = RANDOM.exec(key.toLowerCase()) ?? []
  return /[a-f]/.test(digits) && new Set(digits.replaceAll('-', '')).size >= 8
}

export interface KeyedOrder {
  key: IdempotencyKey
  /**
   * The declared fields of the body, in the form that release 1.1.0 stores: each release replays the keys of the other.
   */
  order: readonly unknown[]
  /** The other fields of the body. */
  unknown: object
  /** Whether a quote was paid or may have been: then it keeps its key even after it has expired. */
  isUsed(request: PayRequest): Promise<boolean>
  make(): Promise<PayRequest>
}

/** The quote of a key, created if there is none. */
export async function quoteOnce(context: Context, keyed: KeyedOrder): Promise<PayRequest> {
  const { key, isUsed, make } = keyed
  const orderHash = hash('sha256', bodyText(keyed))
  for (;;) {
    const stored = await findStored(context, key, orderHash)
    if (stored?.request && (unixNow(context) <= stored.request.expires_at || (await isUsed(stored.request))))
      return stored.request
    const request = await make()
    const { pay_req_id, created_at } = request
    const isStored = await context.database.commit(async (tx) => {
      const taken = { idempotency_key: key.name, body_sha256: orderHash, pay_req_id, created_at }
      if (!(await assignIdempotencyKey(tx, taken, stored?.payReqId ?? null))) return false
      await insertPayRequest(tx, request)
      return true
    })
    // Otherwise another request took the key in between, and the next iteration returns its quote.
    if (isStored) return request
  }
}

/** The same text for the same body, however it was formatted. */
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

async function findStored(
  context: Context,
  { name, unbound }: IdempotencyKey,
  orderHash: string,
): Promise<{ payReqId: string | null; request: PayRequest | null } | null> {
  const { db } = context.database
  const isFresh = ({ created_at }: StoredKey) => created_at > unixNow(context) - KEY_LIFETIME_SECONDS
  const stored = await findIdempotencyKey(db, name)
  if (stored) {
    const payReqId = stored.pay_req_id
    if (!isFresh(stored)) return { payReqId, request: null }
    if (stored.body_sha256 === orderHash) return { payReqId, request: await findPayRequest(db, payReqId) }
    throw new ServiceError('idempotency_conflict', 'this Idempotency-Key was used with a different body', {
      hint: 'send the original body, or use a new key for a new purchase',
    })
  }
  // Never a conflict: the key may belong to another client.
  const earlier = unbound === null ? null : await findIdempotencyKey(db, unbound)
  if (!earlier || !isFresh(earlier) || earlier.body_sha256 !== orderHash) return null
  return { payReqId: null, request: await findPayRequest(db, earlier.pay_req_id) }
}
