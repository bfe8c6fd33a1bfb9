// Reads the signed envelope of a request. The service decides whose signature it requires.

import { errorStatus } from '@svc/api/errors'
import { isoSeconds } from '@svc/protocol/evidence'
import { HEADER_ENVELOPE, HEADER_SIGNATURE } from '@svc/protocol/names'
import {
  bodyBinding,
  decodeEnvelope,
  type EnvelopeRejection,
  envelopeRejection,
  isBodyless,
  MAX_CLOCK_LEAD_SECONDS,
  MAX_LIFETIME_SECONDS,
  type RequestEnvelope,
} from '@svc/protocol/request-envelope'
import { ServiceError, ValidationError } from '../service-error.ts'
import { requireStorableText } from './validate.ts'
import type { WireRequest } from './wire-request.ts'

export interface SignedEnvelope {
  envelope: RequestEnvelope
  /** The signed bytes. */
  bytes: Uint8Array
  /** The signature as in the header. */
  signature: string
}

const ENVELOPE = HEADER_ENVELOPE.toLowerCase()
const SIGNATURE = HEADER_SIGNATURE.toLowerCase()

export function hasEnvelopeHeaders({ headers }: WireRequest): boolean {
  return headers[ENVELOPE] !== undefined || headers[SIGNATURE] !== undefined
}

/** 401 for requests without a body, 422 when the headers are inputs besides a body (ENV-19). */
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
    hint: `send ${HEADER_ENVELOPE} and ${HEADER_SIGNATURE}: see the index under /.well-known/`,
  })
}

export function readEnvelope({ headers }: WireRequest): SignedEnvelope {
  const decoded = decodeEnvelope(String(headers[ENVELOPE]))
  if (decoded.ok) {
    const { envelope, bytes } = decoded
    // Its ids are looked up before the signature is checked, so a database must be able to store them.
    requireStorableText(envelope, ['header', HEADER_ENVELOPE])
    return { envelope, bytes, signature: String(headers[SIGNATURE]) }
  }
  if (decoded.code === 'SIGNATURE_INVALID')
    throw new ServiceError('SIGNATURE_INVALID', decoded.message, {
      hint: `${HEADER_ENVELOPE} is base64url, with - and _ and without =, of the envelope's JSON; sign those JSON bytes`,
    })
  const field = decoded.field === null ? [] : [decoded.field]
  throw new ValidationError({ loc: ['header', HEADER_ENVELOPE, ...field], msg: decoded.message })
}

const NO_BYTES = new Uint8Array()
const ONE_BYTE = new Uint8Array(1)

/** Throws the first mismatch between a verified envelope and its request. */
export function requireMatchingEnvelope(
  envelope: RequestEnvelope,
  wire: WireRequest,
  ops: readonly (string | readonly string[])[],
  now: number,
): void {
  const { method, hasBody } = wire
  // A target may be a whole URL, as clients send it to proxies; the signed part is its path.
  const target = wire.target.startsWith('/') ? wire.target : wire.target.replace(/^https?:\/\/[^/?#]*/i, '')
  // A body that should not exist is not read; one byte represents it.
  const body = isBodyless(method) ? (hasBody ? ONE_BYTE : NO_BYTES) : wire.body
  const rejection = envelopeRejection(envelope, { method, target, body, requiredOps: ops, now })
  if (!rejection) return
  const status = errorStatus(rejection, method)
  const { message, ...extras } = EXPLAIN[rejection](envelope, { method, target, body, ops, now })
  throw new ServiceError(rejection, message, { ...extras, status })
}

interface Seen {
  method: string
  target: string
  body: Uint8Array
  ops: readonly (string | readonly string[])[]
  now: number
}

interface Explanation {
  message: string
  hint: string
  details: Record<string, unknown>
}

/** What was signed, what was received, and what to sign. */
const EXPLAIN: Record<EnvelopeRejection, (envelope: RequestEnvelope, seen: Seen) => Explanation> = {
  EXPIRED_ENVELOPE: ({ exp }, { now }) => ({
    message: `the envelope expired ${now - exp} s ago, by the clock of the gateway`,
    hint: `sign a new envelope for each request; if you just did, your clock is behind: the gateway's time is ${isoSeconds(now)}`,
    details: { exp, gateway_time: now },
  }),
  ENVELOPE_NOT_YET_VALID: ({ iat }, { now }) => ({
    message: `iat is ${iat - now} s ahead of the clock of the gateway; at most ${MAX_CLOCK_LEAD_SECONDS} s are allowed`,
    hint: `set your clock: the gateway's time is ${isoSeconds(now)}`,
    details: { iat, gateway_time: now },
  }),
  ENVELOPE_LIFETIME_INVALID: ({ iat, exp }) => ({
    message: `exp is ${exp - iat} s after iat, and must be 1 to ${MAX_LIFETIME_SECONDS} s after it`,
    hint: `set exp to iat + ${MAX_LIFETIME_SECONDS}`,
    details: { iat, exp },
  }),
  METHOD_MISMATCH: (envelope, { method }) => ({
    message: `the envelope is for the method ${cut(envelope.method)}, but the request is a ${method}`,
    hint: 'sign the method that you send, in capital letters',
    details: { signed_method: cut(envelope.method), request_method: method },
  }),
  PATH_MISMATCH: (envelope, { target }) => ({
    message: `the envelope is for the path ${cut(envelope.path)}, but the gateway received ${cut(target)}`,
    hint: 'sign the path as it reaches the gateway, without host and query; behind a proxy that changes paths, the changed one',
    details: { signed_path: cut(envelope.path), request_path: cut(target) },
  }),
  BODY_HASH_MISMATCH: ({ body_sha256 }, { method, body }) =>
    isBodyless(method)
      ? {
          message: `a ${method} has no body, so body_sha256 must be empty${body.length > 0 ? ', but the request has a body' : ''}`,
          hint: 'send no body, and sign an empty body_sha256',
          details: { body_sha256 },
        }
      : {
          message: `body_sha256 is not the SHA-256 of the ${body.length} received bytes`,
          hint: 'hash the exact bytes you send: serialize the body once, hash that text, and send the same text',
          details: { body_sha256, received_sha256: bodyBinding(method, body), received_bytes: body.length },
        },
  MISSING_OPS: ({ ops: signed }, { ops }) => {
    const required = ops.map((op) => [op].flat().join(' or '))
    return {
      message: `this operation needs ${required.join(' and ')}, but the envelope has ${cut(signed.join(', ')) || 'no ops'}`,
      hint: `sign with ops: ${JSON.stringify(ops.map((op) => [op].flat()[0]))}`,
      details: { required_ops: required },
    }
  },
}

const MAX_CHARACTERS = 200

function cut(text: string): string {
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text
}
