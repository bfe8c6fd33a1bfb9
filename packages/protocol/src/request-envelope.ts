// The signed envelope of a request: two headers that bind method, path, body and operation to a key, for one use.

import { sha256Hex } from '#crypto'
import { fromBase58, fromBase64Url, isHex, toBase58, toBase64Url, utf8 } from './bytes.ts'
import { canonicalJson, type Json } from './canonical.ts'
import { type Ed25519Signer, type Ed25519Verifier, personalSign, recoverPersonalSigner, type SigAlg } from './keys.ts'
import { parseStrictJson } from './strict-json.ts'

export interface RequestEnvelope {
  v: number | string
  locker_id: string
  receipt_id: string
  nonce: string
  iat: number
  exp: number
  ops: string[]
  method: string
  path: string
  body_sha256: string
  sig_alg: SigAlg
  /** The address of the service. A gateway reads it only if neither a locker nor a receipt is named. */
  aud?: unknown
}

export const MAX_ENVELOPE_BYTES = 4096
export const MAX_LIFETIME_SECONDS = 60
export const MAX_CLOCK_LEAD_SECONDS = 30
export const EMPTY_BODY_SHA256 = sha256Hex('')

/** GET, HEAD and DELETE have no body and bind the empty string. Other methods bind the hash of the exact bytes. */
export function bodyBinding(method: string, body: Uint8Array): string {
  return isBodyless(method) ? '' : sha256Hex(body)
}

export function isBodyless(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'DELETE'
}

export function encodeEnvelope(envelope: RequestEnvelope): Uint8Array {
  return utf8(canonicalJson(envelope as unknown as Json))
}

/** The two header values, signed with an Ed25519 key. */
export function signEnvelope(envelope: RequestEnvelope, signer: Ed25519Signer): SignedHeaders {
  const bytes = encodeEnvelope(envelope)
  return { envelope: toBase64Url(bytes), signature: toBase58(signer.sign(bytes)) }
}

/** The two header values, signed as EVM wallets sign text. */
export function personalSignEnvelope(envelope: RequestEnvelope, privateKey: Uint8Array): SignedHeaders {
  const bytes = encodeEnvelope(envelope)
  return { envelope: toBase64Url(bytes), signature: personalSign(bytes, privateKey) }
}

export interface SignedHeaders {
  envelope: string
  signature: string
}

export type DecodedEnvelope =
  | { ok: true; envelope: RequestEnvelope; bytes: Uint8Array }
  | { ok: false; code: 'SIGNATURE_INVALID'; message: string }
  | { ok: false; code: 'validation_error'; field: keyof RequestEnvelope | null; message: string }

/** Reads the header. The returned bytes are the signed ones: nothing is serialized again before the check (ENV-23). */
export function decodeEnvelope(header: string): DecodedEnvelope {
  if (header.length > MAX_ENVELOPE_BYTES * 2)
    return unreadable(`the envelope is longer than ${MAX_ENVELOPE_BYTES} bytes`)
  const bytes = fromBase64Url(header)
  if (!bytes) return unreadable('the envelope is not base64url without padding')
  let value: Json
  try {
    value = parseStrictJson(bytes, MAX_ENVELOPE_BYTES)
  } catch (error) {
    return unreadable(`the envelope is not strict JSON: ${(error as Error).message}`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return { ok: false, code: 'validation_error', field: null, message: 'must be an object' }
  }
  const fields = value as Record<string, Json>
  for (const field of FIELDS) {
    const { accepts, message } = FIELD_RULES[field]
    if (!Object.hasOwn(fields, field) || !accepts(fields[field])) {
      return { ok: false, code: 'validation_error', field, message }
    }
  }
  return { ok: true, envelope: fields as unknown as RequestEnvelope, bytes }
}

function unreadable(message: string): DecodedEnvelope {
  return { ok: false, code: 'SIGNATURE_INVALID', message }
}

const isText = (value: unknown) => typeof value === 'string'
const isTime = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0

type RequiredField = Exclude<keyof RequestEnvelope, 'aud'>

const FIELD_RULES: Record<RequiredField, { accepts(value: unknown): boolean; message: string }> = {
  v: {
    accepts: (v) => typeof v !== 'object' && /^[1-9]\d{0,8}$/.test(String(v)),
    message: 'must be a positive integer',
  },
  locker_id: { accepts: isText, message: 'must be a string' },
  receipt_id: { accepts: isText, message: 'must be a string' },
  nonce: { accepts: (n) => isText(n) && isHex(n as string, 16), message: 'must be 16 bytes as 32 lowercase hex' },
  iat: { accepts: isTime, message: 'must be integer Unix seconds' },
  exp: { accepts: isTime, message: 'must be integer Unix seconds' },
  ops: { accepts: (ops) => Array.isArray(ops) && ops.every(isText), message: 'must be an array of strings' },
  method: { accepts: isText, message: 'must be a string' },
  path: { accepts: isText, message: 'must be a string' },
  body_sha256: {
    accepts: (hash) => hash === '' || (isText(hash) && isHex(hash as string, 32)),
    message: 'must be 64 lowercase hex, or empty',
  },
  sig_alg: { accepts: (alg) => alg === 'ed25519' || alg === 'secp256k1', message: 'must be ed25519 or secp256k1' },
}

const FIELDS = Object.keys(FIELD_RULES) as RequiredField[]

/** Whether the signature header is the base58 Ed25519 signature of these bytes under this key. */
export function isSignedBy(key: Ed25519Verifier, bytes: Uint8Array, signature: string): boolean {
  const raw = fromBase58(signature, 64)
  return raw !== null && key.verify(bytes, raw)
}

/** Whether the signature header is the personal-sign signature of these bytes by this address. */
export function isPersonallySignedBy(address: string, bytes: Uint8Array, signature: string): boolean {
  return recoverPersonalSigner(bytes, signature) === address.toLowerCase()
}

export interface RequestFacts {
  method: string
  /** The raw request target: path and query as they were sent. */
  target: string
  /** The bytes after the headers, even if the method should have none. */
  body: Uint8Array
  /** Ops that are all required. For a nested list, one of its ops is enough. */
  requiredOps: readonly (string | readonly string[])[]
  /** Unix seconds. */
  now: number
}

export type EnvelopeRejection =
  | 'EXPIRED_ENVELOPE'
  | 'ENVELOPE_NOT_YET_VALID'
  | 'ENVELOPE_LIFETIME_INVALID'
  | 'METHOD_MISMATCH'
  | 'PATH_MISMATCH'
  | 'BODY_HASH_MISMATCH'
  | 'MISSING_OPS'

/** The first mismatch between a verified envelope and its request, in the order of AMB-04, or null. */
export function envelopeRejection(envelope: RequestEnvelope, request: RequestFacts): EnvelopeRejection | null {
  if (envelope.exp <= request.now) return 'EXPIRED_ENVELOPE'
  if (envelope.iat > request.now + MAX_CLOCK_LEAD_SECONDS) return 'ENVELOPE_NOT_YET_VALID'
  const lifetime = envelope.exp - envelope.iat
  if (lifetime <= 0 || lifetime > MAX_LIFETIME_SECONDS) return 'ENVELOPE_LIFETIME_INVALID'
  if (envelope.method !== request.method) return 'METHOD_MISMATCH'
  if (!isSamePath(envelope.path, request.target)) return 'PATH_MISMATCH'
  if (!isBodyBound(envelope, request)) return 'BODY_HASH_MISMATCH'
  if (!request.requiredOps.every((op) => hasOp(envelope.ops, op))) return 'MISSING_OPS'
  return null
}

function hasOp(ops: readonly string[], required: string | readonly string[]): boolean {
  return typeof required === 'string' ? ops.includes(required) : required.some((one) => ops.includes(one))
}

function isBodyBound(envelope: RequestEnvelope, { method, body }: RequestFacts): boolean {
  if (isBodyless(method)) return envelope.body_sha256 === '' && body.length === 0
  if (envelope.body_sha256 === '') return body.length === 0
  return envelope.body_sha256 === sha256Hex(body)
}

/**
 * Paths are compared segment by segment, each decoded once: `%C3%A9` is `é`, but `a%2Fb` is one segment and `a/b` are
 * two. An envelope path with a query must equal the entire raw target (ENV-06).
 */
export function isSamePath(signed: string, target: string): boolean {
  if (signed === target) return true
  if (signed.includes('?')) return false
  const left = segments(signed)
  const right = segments(target.split('?', 1)[0] as string)
  return left !== null && right !== null && left.length === right.length && left.every((part, i) => part === right[i])
}

function segments(path: string): string[] | null {
  try {
    return path.split('/').map(decodeURIComponent)
  } catch {
    return null
  }
}
