// Declares each endpoint once: the server validates requests with the declaration, clients take their types from it,
// and the interface description is generated from it.

import type { Op } from '@svc/protocol/names'
import type { Static, TObject, TSchema } from 'typebox'
import { type ErrorCode, errorStatus } from './errors.ts'

export interface Endpoint {
  /** The unique operation id in the interface description. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Required for POST. Requests of other methods may always be repeated. */
  repeatable?: Repeatable
  /** Parameters are written as `{name}`; a final `{+name}` matches the rest of the path, slashes included. */
  path: string
  /**
   * What a caller must send: nothing, a signed envelope, a token of the identity provider, the admin's token, the token
   * of an upload session, or nothing besides the token in the path.
   */
  auth: 'public' | EnvelopeAuth | 'oidc' | 'internal' | 'upload-token' | 'path-token'
  /** A client may leave the token out; the operation then decides the answer. */
  isTokenOptional?: true
  summary: string
  params?: TObject
  query?: TObject
  /** Headers besides those of every request. They are documentation: the operation reads them itself. */
  requestHeaders?: TObject
  body?: TSchema
  /** The maximum length of a JSON body, for endpoints that need more than the default. */
  maxBodyBytes?: number
  /** Whether the body may be raw bytes. */
  takesBytes?: true
  /** Status → body. */
  responses: { [status: number]: TSchema }
  /** Sent with every successful answer. */
  headers?: Readonly<Record<string, string>>
  /**
   * Answers contain nothing that opens something, so they may be compressed: the length of compressed text reveals
   * whether its parts repeat each other. Answers of public GET endpoints need no mark.
   */
  hasNoSecrets?: true
  /** Errors have these headers too. Errors of a path with a token always do. */
  errorHeaders?: true
  contentType?: string
  /** The possible types if there are several. The operation sets the one of its answer. */
  contentTypes?: readonly string[]
  errors?: readonly ErrorCode[]
  /** The methods of the Machine Payments Protocol that can pay for the request. Amounts are in the 402. */
  paymentMethods?: readonly string[]
  /** Refused payment credentials get 402 and problem details, whatever status their code has elsewhere. */
  paymentProblems?: true
  /**
   * While its database is behind, the gateway refuses every method but GET with 503 `database_behind`. Set this for
   * requests that only read, and for operations that read first and refuse to write themselves.
   */
  whileBehind?: 'served'
  /** HEAD is a documented operation. Every other GET endpoint answers HEAD too. */
  head?: true
  /** Set on endpoints that upload bytes or prepare uploads: each of their errors contains what to do next. */
  upload?: UploadAdvice
}

export interface UploadAdvice {
  /** The request to try if a body did not arrive. */
  otherwise: string
  /** The form with a body, for input that is too long for a query. */
  inBody?: string
}

export const IN_PARTS: UploadAdvice = { otherwise: 'POST /v1/lockers/{locker_id}/upload-sessions' }

/**
 * Whether a POST may be sent again if the caller does not know whether the first one arrived. `true`: the second
 * request finds the result of the first. `false`: it may do the work twice. `if-named`: repeatable if the body names
 * its files; the gateway makes up a new name each time for files without one. `with-once-header`: repeatable with a
 * header of `ONCE_HEADERS`.
 */
type Repeatable = boolean | 'if-named' | 'with-once-header'

/** A request with one of these takes effect once, however often it arrives. */
export const ONCE_HEADERS: readonly string[] = ['idempotency-key', 'payment-signature']

export interface EnvelopeAuth {
  /** The envelope must have every listed op. For a nested list, one of its ops is enough. */
  ops: readonly (Op | readonly Op[])[]
  /** One form of the request needs no envelope. If an envelope is sent, it is checked. */
  optional?: true
}

/** For display: `locker:read or locker:list`. */
export function requiredOps({ ops }: EnvelopeAuth): string[] {
  return ops.map((op) => [op].flat().join(' or '))
}

/** The declared errors, each with its status at this endpoint. Endpoints with inputs include `validation_error`. */
export function errorsOf(endpoint: Endpoint): { code: ErrorCode; status: number }[] {
  const { method, auth, errors = [], params, query, body } = endpoint
  const all = new Set([...errors, ...(params || query || body ? (['validation_error'] as const) : [])])
  // For methods that may have a body, a missing header is a `validation_error` (ENV-19).
  const mayLackEnvelope = method === 'GET' || (typeof auth === 'object' && auth.optional)
  return [...all]
    .filter((code) => code !== 'MISSING_ENVELOPE' || mayLackEnvelope)
    .map((code) => ({ code, status: errorStatus(code, method) }))
}

/** The entry of an endpoint in an index. */
export function listedEndpoint({ method, path, auth, summary }: Endpoint) {
  const shown = typeof auth === 'string' ? auth : `envelope: ${requiredOps(auth).join(', ')}`
  return { method, path: path.replace('{+', '{'), auth: shown, summary }
}

/** Enough for a few fields. Unauthenticated bodies up to this length are read into memory and parsed (T-35). */
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
