// What goes into a call and what comes out, read off the endpoint's declaration.

import type { Body, Endpoint, Params, Query, ResponseBody } from '@svc/api/endpoint'

/** What any call may be given beside what its endpoint declares. */
interface CallExtras {
  /** Of an upload session, an identity provider or the operator: where the endpoint asks for one. */
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

/** An endpoint that takes bytes takes them in place of a body. */
type Payload<E extends Endpoint> = E extends { takesBytes: true }
  ? Partial<Named<'body', Body<E>>> & { bytes?: Uint8Array }
  : Named<'body', Body<E>>

export type Input<E extends Endpoint> = Named<'params', Params<E>> & Named<'query', Query<E>> & Payload<E> & CallExtras

/** The input may be left out where nothing of it is required. */
export type CallArguments<E extends Endpoint> = Nothing extends Input<E> ? [input?: Input<E>] : [input: Input<E>]

type BodyOf<E extends Endpoint, Status extends keyof E['responses']> = E extends { contentType: '*/*' }
  ? Uint8Array
  : ResponseBody<Omit<Endpoint, 'responses'> & { responses: Pick<E['responses'], Status> }>

/** One form for each status that the endpoint declares; any other is thrown. */
export type Answer<E extends Endpoint> = {
  [Status in keyof E['responses']]: { status: Status; body: BodyOf<E, Status>; headers: Headers }
}[keyof E['responses']]

/** The input of any endpoint, once its declaration has done its work. */
export interface AnyInput extends CallExtras {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, unknown>>
  body?: unknown
  bytes?: Uint8Array
}
