// From a signed request to who is calling: the order of the checks is the order on this page.

import { batch } from '@svc/concurrency/sharing'
import { addressKey } from '@svc/guard/address-key'
import { createNonces } from '@svc/guard/nonces'
import type { RateLimiter } from '@svc/guard/rate-limiter'
import { type Candidates, createSignerFinder, notSigned, type Signer } from '@svc/guard/signers'
import { readEnvelope, requireMatchingEnvelope, type SignedEnvelope } from '@svc/http-service/envelope'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { lockerId } from '@svc/protocol/ids'
import type { Op } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import type { Db, Locker } from '../db/schema.ts'
import { findLockers, findReceiptAndLocker } from './store.ts'

type RequiredOps = readonly (Op | readonly Op[])[]

export interface LockerCaller {
  signer: Signer
  envelope: RequestEnvelope
  locker: Locker
}

export interface ReceiptCaller {
  signer: Signer
  envelope: RequestEnvelope
  receipt: SignedReceipt
  locker: Locker | null
}

export interface Callers {
  /** Of the locker in the path; of the one the envelope names where the path names none. */
  ofLocker(wire: WireRequest, ops: RequiredOps, pathLockerId: string | null): Promise<LockerCaller>
  /** Of a receipt that may have no locker yet: the one the request names, where it does so outside its body. */
  ofReceipt(wire: WireRequest, ops: RequiredOps, namedReceiptId: string | null): Promise<ReceiptCaller>
}

/** Only the payer's own key does these (AMB-89). */
const OWNER_OPS: readonly unknown[] = ['locker:admin', 'locker:provision', 'locker:attest', 'locker:refresh']
const NONCE_KEPT_SECONDS = 60

export interface CallersOptions {
  db: Db
  now: () => number
  rateLimiter: RateLimiter
  /** How many signatures of one client address may be wrong: each costs up to one verification an operator. */
  badSignaturesPerMinute: number
}

export function createCallers({ db, now, rateLimiter, badSignaturesPerMinute }: CallersOptions): Callers {
  const useNonce = createNonces(db)
  const findSigner = createSignerFinder()
  const findLocker = batch(async (ids: string[]) => {
    const found = new Map((await findLockers(db, [...new Set(ids)])).map((locker) => [locker.locker_id, locker]))
    return ids.map((id) => found.get(id) ?? null)
  })

  async function requireSigner({ clientAddress }: WireRequest, signed: SignedEnvelope, who: Candidates) {
    const ask = { key: `bad signatures ${addressKey(clientAddress)}`, perMinute: badSignaturesPerMinute }
    rateLimiter.refuseExhausted(ask)
    const signer = await findSigner(signed, who)
    if (signer) return signer
    await rateLimiter.take(ask)
    throw notSigned(who)
  }

  async function authorize(wire: WireRequest, signed: SignedEnvelope, ops: RequiredOps, who: Candidates) {
    const { envelope } = signed
    const signer = await requireSigner(wire, signed, who)
    requireMatchingEnvelope(envelope, wire, ops, Math.floor(now() / 1000))
    requireRole(signer, ops)
    const nonce = { signer: signer.identity, nonce: envelope.nonce, forget_at: envelope.exp + NONCE_KEPT_SECONDS }
    if (!(await useNonce(nonce))) throw replayed()
    return { signer, envelope }
  }

  return {
    async ofLocker(wire, ops, pathLockerId) {
      const signed = readEnvelope(wire)
      const id = boundLockerId(signed.envelope, pathLockerId)
      const locker = await findLocker(id)
      if (!locker) throw lockerNotFound()
      requireReceiptOf(signed.envelope, locker)
      const caller = await authorize(wire, signed, ops, candidates(locker))
      return { ...caller, locker }
    },

    async ofReceipt(wire, ops, namedReceiptId) {
      const signed = readEnvelope(wire)
      const { receipt_id, locker_id } = signed.envelope
      if (receipt_id === '') throw receiptMismatch('the envelope must name the receipt')
      if (receipt_id !== (namedReceiptId ?? receipt_id)) {
        throw receiptMismatch('the envelope is for another receipt than the query')
      }
      if (locker_id !== '' && locker_id !== lockerId(receipt_id)) throw lockerMismatch()
      const found = await findReceiptAndLocker(db, receipt_id)
      if (!found) throw new ServiceError('receipt_not_found', 'there is no receipt with this id')
      const { receipt, locker } = found
      const who = locker ? candidates(locker) : { owner: receipt.payer_pubkey, operators: [] }
      const caller = await authorize(wire, signed, ops, who)
      return { ...caller, receipt, locker }
    },
  }
}

function candidates({ owner, operators }: Locker): Candidates {
  return { owner, operators: operators === '[]' ? [] : JSON.parse(operators) }
}

/**
 * The id of a locker follows from its receipt's, so that ids which do not belong together show before any look-up: a
 * receipt that is of neither locker first, then a locker that is not the path's.
 */
function boundLockerId({ locker_id, receipt_id }: RequestEnvelope, pathLockerId: string | null): string {
  const named = receipt_id === '' ? null : lockerId(receipt_id)
  const bound = pathLockerId ?? (locker_id || named)
  if (named !== null && named !== bound && named !== locker_id) throw receiptOfAnother()
  if (bound === null || (pathLockerId !== null && locker_id !== bound)) throw lockerMismatch()
  return bound
}

/** Two receipts with one locker id are possible, if hardly (AMB-72). */
function requireReceiptOf({ receipt_id }: RequestEnvelope, locker: Locker): void {
  if (receipt_id !== '' && receipt_id !== locker.receipt_id) throw receiptOfAnother()
}

function receiptOfAnother(): ServiceError {
  return receiptMismatch('the envelope names a receipt that is not of its locker')
}

/** By who signed, whatever ops the signer wrote (T-28). */
function requireRole({ role }: Signer, ops: RequiredOps): void {
  if (role === 'owner' || !ops.some((op) => OWNER_OPS.includes(op))) return
  throw new ServiceError('OWNER_REQUIRED', 'only the owner of the locker may do this', {
    hint: 'sign with the key that paid',
  })
}

/** Also where a body names a receipt beside the envelope's. */
export function receiptMismatch(message: string): ServiceError {
  return new ServiceError('RECEIPT_ID_MISMATCH', message, { hint: 'sign the receipt_id that the request is about' })
}

function lockerMismatch(): ServiceError {
  return new ServiceError('LOCKER_ID_MISMATCH', 'the envelope does not name the locker of this request', {
    hint: 'sign the locker_id that the request is about',
  })
}

export function lockerNotFound(): ServiceError {
  return new ServiceError('locker_not_found', 'there is no such locker', {
    hint: 'open the locker of a receipt with POST /v1/storage/signed_provision',
  })
}

function replayed(): ServiceError {
  return new ServiceError('NONCE_REPLAYED', 'this envelope was used before', {
    hint: 'sign each request anew, with a fresh nonce',
  })
}
