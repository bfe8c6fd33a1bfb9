// Authenticates callers by signed envelopes. The checks run in the order of this file; the first that fails determines
// the response.

import type { Database } from '@svc/database/open'
import { lockerId } from '@svc/protocol/ids'
import { sigAlgOf } from '@svc/protocol/keys'
import type { Op } from '@svc/protocol/names'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { RequestEnvelope } from '@svc/protocol/request-envelope'
import { addressKey } from '@svc/service/guard/address-key'
import type { AudienceCheck } from '@svc/service/guard/audience'
import { createNonces } from '@svc/service/guard/nonces'
import type { RateLimiter } from '@svc/service/guard/rate-limiter'
import {
  type Candidates,
  createSignerFinder,
  notSigned,
  notSignedForLocker,
  type SignedText,
  type Signer,
} from '@svc/service/guard/signers'
import { readEnvelope, requireMatchingEnvelope, type SignedEnvelope } from '@svc/service/http/envelope'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Continuity } from '../continuity/continuity.ts'
import type { Locker, Schema } from '../db/schema.ts'
import { lockerNotFound, lockerNotOpen, receiptNotFound } from './errors.ts'
import { createLockerFinder, findReceiptAndLocker } from './store.ts'

type RequiredOps = readonly (Op | readonly Op[])[]

interface Caller {
  signer: Signer
  envelope: RequestEnvelope
}

export interface LockerCaller extends Caller {
  locker: Locker
}

export interface ReceiptCaller extends Caller {
  receipt: SignedReceipt
  locker: Locker | null
}

/** The identity of the signer is the wallet. */
export type WalletCaller = Pick<Caller, 'signer'>
export type EnvelopeWalletCaller = Caller

/** A text that a wallet has signed, with a nonce that is accepted once. */
export interface WalletText {
  wallet: string
  bytes: Uint8Array
  signature: string
  nonce: string
  /** Unix seconds. */
  iat: number
  exp: number
}

export interface Callers {
  /** The locker is the one in the path or, if the path names none, the one in the envelope. */
  ofLocker(wire: WireRequest, ops: RequiredOps, pathLockerId: string | null): Promise<LockerCaller>
  /** The envelope names the receipt, which may have no locker yet. If given, `queryReceiptId` must be the same. */
  ofReceipt(wire: WireRequest, ops: RequiredOps, queryReceiptId: string | null): Promise<ReceiptCaller>
  /** The request concerns no locker. The wallet that it names must have signed for this gateway. */
  ofWallet(wire: WireRequest, ops: RequiredOps, wallet: string): Promise<EnvelopeWalletCaller>
  /**
   * The wallet that signed a text instead of an envelope. The caller has checked the content and the expiry of the
   * text.
   */
  ofText(wire: WireRequest, text: WalletText): Promise<WalletCaller | 'not_signed' | 'replayed'>
}

interface CallersOptions {
  database: Pick<Database<Schema>, 'db' | 'commit'>
  now: () => number
  rateLimiter: RateLimiter
  /**
   * Per client address: invalid signatures, each of which is verified with the keys of the owner and every operator,
   * and requests of wallets, which are free to create.
   */
  perAddress: number
  /** How many processes share this machine. */
  processes: number
  requireAudience: AudienceCheck
  continuity: Pick<Continuity, 'assertUnused' | 'recordNonce' | 'status'>
}

/** Only the payer's own key may perform these operations (OPER-05). */
const OWNER_OPS: readonly unknown[] = ['locker:admin', 'locker:provision', 'locker:attest', 'locker:refresh']
const NONCE_LIFETIME_SECONDS = 60

export function createCallers(options: CallersOptions): Callers {
  const { now, rateLimiter, perAddress, processes, requireAudience, continuity } = options
  const { db, commit } = options.database
  const useNonce = createNonces(commit, continuity.recordNonce)
  const findSigner = createSignerFinder(processes)
  const findLocker = createLockerFinder(db)

  async function authorize(
    wire: WireRequest,
    signed: SignedEnvelope,
    ops: RequiredOps,
    candidates: Candidates,
  ): Promise<Caller> {
    const { envelope } = signed
    const signer = await requireSigner(wire, signed, candidates)
    await wire.collect()
    requireMatchingEnvelope(envelope, wire, ops, Math.floor(now() / 1000))
    requireRole(signer, ops)
    if (!(await useOnce(signer, envelope))) throw replayed()
    return { signer, envelope }
  }

  async function countedSigner({ clientAddress }: WireRequest, signed: SignedText, candidates: Candidates) {
    const limit = { key: `bad signatures ${addressKey(clientAddress)}`, perMinute: perAddress }
    rateLimiter.refuseExhausted(limit)
    const signer = await findSigner(signed, candidates)
    if (!signer) await rateLimiter.take(limit)
    return signer
  }

  async function requireSigner(wire: WireRequest, signed: SignedEnvelope, candidates: Candidates) {
    const signer = await countedSigner(wire, signed, candidates)
    if (signer) return signer
    // Anyone can read a receipt, with its payer, by its id, and a caller who supplies the wallet learns nothing new. A
    // locker id must reveal neither.
    const { locker_id, receipt_id } = signed.envelope
    throw locker_id !== '' && receipt_id === '' ? notSignedForLocker(signed) : notSigned(candidates, signed)
  }

  /** A caller who names the receipt may learn that it exists: anyone can read a receipt by its id. */
  async function notOpen({ receipt_id }: RequestEnvelope): Promise<ServiceError> {
    const found = receipt_id === '' ? null : await findReceiptAndLocker(db, receipt_id)
    return found ? lockerNotOpen(found.receipt) : lockerNotFound()
  }

  /** Checked again afterwards: storing the nonce may have been the first query to a restored database. */
  async function useOnce({ identity }: Signer, { nonce, iat, exp }: Pick<WalletText, 'nonce' | 'iat' | 'exp'>) {
    continuity.assertUnused(iat)
    const isUnused = await useNonce({ signer: identity, nonce, forget_at: exp + NONCE_LIFETIME_SECONDS })
    continuity.assertUnused(iat)
    return isUnused
  }

  return {
    async ofLocker(wire, ops, pathLockerId) {
      const signed = readEnvelope(wire)
      const id = requireLockerId(signed.envelope, pathLockerId)
      const locker = await findLocker(id)
      if (!locker) throw await notOpen(signed.envelope)
      requireReceiptOf(locker, signed.envelope)
      const caller = await authorize(wire, signed, ops, candidatesOf(locker))
      return { ...caller, locker }
    },

    async ofReceipt(wire, ops, queryReceiptId) {
      const signed = readEnvelope(wire)
      const id = requireReceiptId(signed.envelope, queryReceiptId)
      const found = await findReceiptAndLocker(db, id)
      if (!found) throw receiptNotFound(continuity)
      const { receipt, locker } = found
      const candidates = locker ? candidatesOf(locker) : { owner: receipt.payer_pubkey, operators: [] }
      const caller = await authorize(wire, signed, ops, candidates)
      return { ...caller, receipt, locker }
    },

    async ofWallet(wire, ops, wallet) {
      const signed = readEnvelope(wire)
      requireNoIds(signed.envelope)
      requireAudience(signed.envelope)
      await rateLimiter.take({ key: `address ${addressKey(wire.clientAddress)}`, perMinute: perAddress })
      return authorize(wire, signed, ops, ownerOnly(wallet))
    },

    async ofText(wire, { wallet, bytes, signature, ...once }) {
      const signed = { envelope: { sig_alg: sigAlgOf(wallet) }, bytes, signature }
      const signer = await countedSigner(wire, signed, ownerOnly(wallet))
      if (!signer) return 'not_signed'
      return (await useOnce(signer, once)) ? { signer } : 'replayed'
    },
  }
}

/**
 * The id of a locker is derived from the id of its receipt, so mismatched ids are rejected before any query. A receipt
 * that matches neither locker is reported before a locker that differs from the path.
 */
function requireLockerId({ locker_id, receipt_id }: RequestEnvelope, pathLockerId: string | null): string {
  const ofReceipt = receipt_id === '' ? null : lockerId(receipt_id)
  const bound = pathLockerId ?? (locker_id || ofReceipt)
  if (ofReceipt !== null && ofReceipt !== bound && ofReceipt !== locker_id) throw receiptOfAnotherLocker()
  if (bound === null || (pathLockerId !== null && locker_id !== bound)) throw lockerMismatch(pathLockerId)
  return bound
}

function requireReceiptId({ locker_id, receipt_id }: RequestEnvelope, queryReceiptId: string | null): string {
  if (receipt_id === '') throw receiptMismatch('the envelope must name the receipt')
  if (receipt_id !== (queryReceiptId ?? receipt_id)) {
    throw receiptMismatch('the envelope names a different receipt than the query')
  }
  if (locker_id !== '' && locker_id !== lockerId(receipt_id)) throw lockerMismatch(lockerId(receipt_id))
  return receipt_id
}

/** An envelope that names a locker or a receipt is valid only for those. */
function requireNoIds({ locker_id, receipt_id }: RequestEnvelope): void {
  if (receipt_id !== '') throw receiptMismatch('this request must not name a receipt')
  if (locker_id !== '') throw lockerMismatch('')
}

/** Two receipts may have the same locker id, although that is very unlikely (LOCK-01). */
function requireReceiptOf(locker: Locker, { receipt_id }: RequestEnvelope): void {
  if (receipt_id !== '' && receipt_id !== locker.receipt_id) throw receiptOfAnotherLocker()
}

/** A canonical text for each identity, by which nonces are counted. */
function ownerOnly(wallet: string): Candidates {
  return { owner: sigAlgOf(wallet) === 'secp256k1' ? wallet.toLowerCase() : wallet, operators: [] }
}

function candidatesOf({ owner, operators }: Locker): Candidates {
  return { owner, operators: operators === '[]' ? [] : JSON.parse(operators) }
}

/** The role depends on the key that signed, not on the ops that the envelope claims (T-28). */
function requireRole({ role }: Signer, ops: RequiredOps): void {
  if (role === 'owner' || !ops.some((op) => OWNER_OPS.includes(op))) return
  throw new ServiceError('OWNER_REQUIRED', 'only the owner of the locker may make this request', {
    hint: 'sign with the key that paid',
  })
}

/** Also thrown when a body names a different receipt than the envelope. */
export function receiptMismatch(message: string): ServiceError {
  return new ServiceError('RECEIPT_ID_MISMATCH', message, { hint: 'sign the receipt_id of the request' })
}

function receiptOfAnotherLocker(): ServiceError {
  return receiptMismatch('the envelope names a receipt of another locker')
}

/** `expected` is derived from the request. */
function lockerMismatch(expected: string | null): ServiceError {
  return new ServiceError('LOCKER_ID_MISMATCH', 'the envelope does not name the locker of this request', {
    hint: expected === null ? 'sign the locker_id of the request' : `sign locker_id ${expected || '""'}`,
    ...(expected !== null && { details: { expected } }),
  })
}

function replayed(): ServiceError {
  return new ServiceError(
    'NONCE_REPLAYED',
    'the nonce of this envelope was already used: the request has already arrived',
    {
      hint: 'sign each request separately with 16 new random bytes as its nonce; after a timeout, first check whether the earlier request took effect',
    },
  )
}
