// How an endpoint is declared, once: the server validates by it, clients take their types from it, and the interface
// description is generated from it.

import type { Op } from '@svc/protocol/names'
import type { Static, TObject, TSchema } from 'typebox'
import { type ErrorCode, errorStatus } from './errors.ts'

export interface Endpoint {
  /** Unique. The operation id in the interface description. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Every POST says so, one way or the other; requests of other methods may be repeated. */
  repeatable?: Repeatable
  /** With `{name}` for parameters; `{+name}`, at the end, takes the rest of the path with its slashes. */
  path: string
  /**
   * What a caller must send: nothing, a signed envelope, a token of the identity provider or of the operator, the token
   * of an upload session, or nothing besides the token in the path.
   */
  auth: 'public' | EnvelopeAuth | 'oidc' | 'internal' | 'upload-token' | 'path-token'
  /** A client may leave the token out: the operation decides what to answer then. */
  isTokenOptional?: true
  summary: string
  params?: TObject
  query?: TObject
  /** Headers besides those that every request may have. For documentation: the operation reads them itself. */
  requestHeaders?: TObject
  body?: TSchema
  /** How long a JSON body may be, where the default does not hold all that the endpoint can use. */
  maxBodyBytes?: number
  /** Whether the body may be raw bytes. */
  takesBytes?: true
  /** Status → body. */
  responses: { [status: number]: TSchema }
  /** Sent with every success. */
  headers?: Readonly<Record<string, string>>
  /** Errors have the headers, too; those of a path with a token always do. */
  errorHeaders?: true
  contentType?: string
  /** Where an answer may have one of several types: the operation sets the one of its answer. */
  contentTypes?: readonly string[]
  errors?: readonly ErrorCode[]
  /** How a payment credential may pay for it: methods of the Machine Payments Protocol. Amounts are in the 402. */
  paymentMethods?: readonly string[]
  /** Refused payment credentials are answered with 402 and problem details, whatever status their code has elsewhere. */
  paymentProblems?: true
  /**
   * The gateway refuses every method but GET while its database is behind, with 503 `database_behind`. Set where a request
   * only reads, or where the operation reads first and refuses to write by itself.
   */
  whileBehind?: 'served'
  /** HEAD is part of the interface; any other GET answers it, too. */
  head?: true
  /** Set where bytes are uploaded or prepared to be: every error then says what to do next. */
  upload?: UploadAdvice
}

export interface UploadAdvice {
  /** The request to try where a body did not arrive. */
  otherwise: string
  /** The form that takes in a body what may be too much for a query. */
  inBody?: string
}

export const IN_PARTS: UploadAdvice = { otherwise: 'POST /v1/lockers/{locker_id}/upload-sessions' }

/**
 * Whether a POST may be sent again when it is not known whether the first one arrived. `true`: the second one finds
 * what the first one did. `false`: it may do the work twice. `if-named`: if the body names its files; the gateway gives
 * files without a name a new one each time. `with-once-header`: with a header of `ONCE_HEADERS`.
 */
type Repeatable = boolean | 'if-named' | 'with-once-header'

/** A request with one of these takes effect once, however often it arrives. */
export const ONCE_HEADERS: readonly string[] = ['idempotency-key', 'payment-signature']

export interface EnvelopeAuth {
  /** Each is an op that the envelope must have, or a list of ops of which one is enough. */
  ops: readonly (Op | readonly Op[])[]
  /** One form of the request needs no envelope. An envelope that is sent is checked anyway. */
  optional?: true
}

/** For display: `locker:read or locker:list`. */
export function requiredOps({ ops }: EnvelopeAuth): string[] {
  return ops.map((op) => [op].flat().join(' or '))
}

/** The declared errors, each with its status at this endpoint. Where there are inputs, one may be wrong. */
export function errorsOf(endpoint: Endpoint): { code: ErrorCode; status: number }[] {
  const { method, auth, errors = [], params, query, body } = endpoint
  const all = new Set([...errors, ...(params || query || body ? (['validation_error'] as const) : [])])
  // Where a body may follow, headers that are missing are a `validation_error` (ENV-19).
  const mayLackEnvelope = method === 'GET' || (typeof auth === 'object' && auth.optional)
  return [...all]
    .filter((code) => code !== 'MISSING_ENVELOPE' || mayLackEnvelope)
    .map((code) => ({ code, status: errorStatus(code, method) }))
}

/** As an index of endpoints lists it. */
export function listedEndpoint({ method, path, auth, summary }: Endpoint) {
  const shown = typeof auth === 'string' ? auth : `envelope: ${requiredOps(auth).join(', ')}`
  return { method, path: path.replace('{+', '{'), auth: shown, summary }
}

/** Enough for a few fields. What a stranger sends is read into memory and parsed up to this length (T-35). */
const DEFAULT_BODY_BYTES = 8_192

export function maxBodyBytes({ maxBodyBytes = DEFAULT_BODY_BYTES }: Pick<Endpoint, 'maxBodyBytes'>): number {
  return maxBodyBytes
}

export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration
}

/** All endpoints that these modules declare. */
export function endpointsOf(modules: readonly object[]): readonly Endpoint[] {
  return modules.flatMap((module) => Object.values(module)).filter(isEndpoint)
}

function isEndpoint(exported: unknown): exported is Endpoint {
  return typeof exported === 'object' && exported !== null && 'method' in exported && 'path' in exported
}

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise

export type Params<E extends Endpoint> = StaticOr<E['params'], undefined>
export type Query<E extends Endpoint> = StaticOr<E['query'], undefined>
export type Body<E extends Endpoint> = StaticOr<E['body'], undefined>
export type ResponseBody<E extends Endpoint> = StaticOr<E['responses'][keyof E['responses']], never>
