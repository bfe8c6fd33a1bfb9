// Reads the signed envelope of a request. The service decides whose signature it must carry.

import { errorStatus } from '@svc/api/errors'
import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import {
  decodeEnvelope,
  type EnvelopeRejection,
  envelopeRejection,
  isBodyless,
  type RequestEnvelope,
} from '@svc/protocol/request-envelope'
import { ServiceError, ValidationError } from './service-error.ts'
import { requireStorableText } from './validate.ts'
import type { WireRequest } from './wire-request.ts'

export interface SignedEnvelope {
  envelope: RequestEnvelope
  /** The signed bytes. */
  bytes: Uint8Array
  /** As in the header. */
  signature: string
}

const ENVELOPE = HEADER_ENVELOPE.toLowerCase()
const SIGNATURE = HEADER_SIGNATURE.toLowerCase()

export function hasEnvelopeHeaders({ headers }: WireRequest): boolean {
  return headers[ENVELOPE] !== undefined || headers[SIGNATURE] !== undefined
}

/** 401 for requests without a body, 422 where the headers are inputs besides a body (AMB-03). */
export function requireEnvelopeHeaders({ method, headers }: WireRequest): void {
  if (headers[ENVELOPE] && headers[SIGNATURE]) return
  const missing = [HEADER_ENVELOPE, HEADER_SIGNATURE].filter((name) => !headers[name.toLowerCase()])
  const [first, ...rest] = missing.map((name) => ({ loc: ['header', name], msg: 'is required' }))
  if (!first) return
  if (method === 'GET' || method === 'HEAD') throw missingEnvelope()
  throw new ValidationError(first, ...rest)
}

export function missingEnvelope(): ServiceError {
  return new ServiceError('MISSING_ENVELOPE', 'this request must be signed', {
    hint: `send ${HEADER_ENVELOPE} and ${HEADER_SIGNATURE}: the index under /.well-known/ says more`,
  })
}

export function readEnvelope({ headers }: WireRequest): SignedEnvelope {
  const decoded = decodeEnvelope(String(headers[ENVELOPE]))
  if (decoded.ok) {
    const { envelope, bytes } = decoded
    // Its ids are looked up before the signature is checked, so a database must be able to take them.
    requireStorableText(envelope, ['header', HEADER_ENVELOPE])
    return { envelope, bytes, signature: String(headers[SIGNATURE]) }
  }
  if (decoded.code === 'SIGNATURE_INVALID') throw new ServiceError('SIGNATURE_INVALID', decoded.message)
  const field = decoded.field === null ? [] : [decoded.field]
  throw new ValidationError({ loc: ['header', HEADER_ENVELOPE, ...field], msg: decoded.message })
}

const NO_BYTES = new Uint8Array()
const ONE_BYTE = new Uint8Array(1)

/** Throws the first way in which a verified envelope does not fit the request it came with. */
export function requireMatchingEnvelope(
  envelope: RequestEnvelope,
  wire: WireRequest,
  ops: readonly (string | readonly string[])[],
  now: number,
): void {
  const { method, hasBody } = wire
  // A target may be a whole URL, as clients send it to proxies; the signed part begins at its path.
  const target = wire.target.startsWith('/') ? wire.target : wire.target.replace(/^https?:\/\/[^/?#]*/i, '')
  // A body that should not exist is not read; one byte stands for it.
  const body = isBodyless(method) ? (hasBody ? ONE_BYTE : NO_BYTES) : wire.body
  const rejection = envelopeRejection(envelope, { method, target, body, requiredOps: ops, now })
  if (!rejection) return
  const status = errorStatus(rejection, method)
  throw new ServiceError(rejection, MESSAGES[rejection], { hint: HINTS[rejection], status })
}

const MESSAGES: Record<EnvelopeRejection, string> = {
  EXPIRED_ENVELOPE: 'the envelope has expired',
  ENVELOPE_NOT_YET_VALID: 'the envelope was issued in the future',
  ENVELOPE_LIFETIME_INVALID: 'exp must be after iat, by 60 seconds at most',
  METHOD_MISMATCH: 'the envelope is for another method',
  PATH_MISMATCH: 'the envelope is for another path',
  BODY_HASH_MISMATCH: 'body_sha256 is not the hash of the body that came',
  MISSING_OPS: 'the envelope lacks an op that this operation needs',
}

const HINTS: Record<EnvelopeRejection, string> = {
  EXPIRED_ENVELOPE: 'sign a new one; check your clock',
  ENVELOPE_NOT_YET_VALID: 'check your clock',
  ENVELOPE_LIFETIME_INVALID: 'set exp to iat + 60',
  METHOD_MISMATCH: 'sign the method you send',
  PATH_MISMATCH: 'sign the path you send, without the query',
  BODY_HASH_MISMATCH: 'hash the exact bytes you send; GET and DELETE have no body and an empty body_sha256',
  MISSING_OPS: 'the index under /.well-known/ lists the ops of each operation',
}
