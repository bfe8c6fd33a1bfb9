// The form in which every endpoint is declared, once: the server validates by it, clients are typed by it, and the
// interface description is read off it.

import type { Op } from '@svc/protocol/names'
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from './errors.ts'

export interface Endpoint {
  /** Unique; the operation id of the interface description. */
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** With `{name}` for parameters. */
  path: string
  /** What a caller must show: nothing, a signed envelope with these ops, an identity provider's token, or the operator's. */
  auth: 'public' | { ops: readonly Op[] } | 'oidc' | 'internal'
  summary: string
  params?: TObject
  query?: TObject
  body?: TSchema
  /** Status → body. */
  responses: { [status: number]: TSchema }
  /** Sent with every success. */
  headers?: Readonly<Record<string, string>>
  contentType?: string
  errors?: readonly ErrorCode[]
}

export function endpoint<const E extends Endpoint>(declaration: E): E {
  return declaration
}

type StaticOr<S, Otherwise> = S extends TSchema ? Static<S> : Otherwise

export type Params<E extends Endpoint> = StaticOr<E['params'], undefined>
export type Query<E extends Endpoint> = StaticOr<E['query'], undefined>
export type Body<E extends Endpoint> = StaticOr<E['body'], undefined>
export type ResponseBody<E extends Endpoint> = StaticOr<E['responses'][keyof E['responses']], never>
