// The types of a call's input and answer, derived from the endpoint's declaration.

import type { Body, Endpoint, Params, Query, ResponseBody } from '@svc/api/endpoint'

/**
 * Options of any call besides the input that its endpoint declares. This is an alias because the published types of
 * methods inline it; an interface would have to be exported.
 */
type CallExtras = {
  /** The token of an upload session, of an identity provider or of internal callers, if the endpoint needs one. */
  token?: string
  headers?: Record<string, string>
  signal?: AbortSignal | undefined
}

type Nothing = Record<never, never>
type Named<Name extends string, T> = [T] extends [undefined]
  ? Nothing
  : Nothing extends T
    ? { [N in Name]?: T }
    : { [N in Name]: T }

/** An endpoint that accepts bytes accepts them instead of a body. */
type Payload<E extends Endpoint> = E extends { takesBytes: true }
  ? Partial<Named<'body', Body<E>>> & { bytes?: Uint8Array }
  : Named<'body', Body<E>>

type Input<E extends Endpoint> = Named<'params', Params<E>> & Named<'query', Query<E>> & Payload<E> & CallExtras

/** The input is optional if all its parts are. */
export type CallArguments<E extends Endpoint> = Nothing extends Input<E> ? [input?: Input<E>] : [input: Input<E>]

type BodyOf<E extends Endpoint, Status extends keyof E['responses']> = E extends { contentType: '*/*' }
  ? Uint8Array
  : ResponseBody<Omit<Endpoint, 'responses'> & { responses: Pick<E['responses'], Status> }>

/** One member for each status that the endpoint declares. A call throws for any other status. */
export type Answer<E extends Endpoint> = {
  [Status in keyof E['responses']]: { status: Status; body: BodyOf<E, Status>; headers: Headers }
}[keyof E['responses']]

/** The input of any endpoint, without the types of its declaration. */
export interface AnyInput extends CallExtras {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  bytes?: Uint8Array
}
