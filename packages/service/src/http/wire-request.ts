// A request as it arrived, which is what signatures are checked against.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { parseQuery, type RawQuery } from './query.ts'

export interface WireRequest {
  readonly id: string
  readonly method: string
  /** Path and query, exactly as sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Empty for routes that stream bytes, and until it is collected. */
  readonly body: Uint8Array
  /** Whether a body follows the headers, also when it is never read. */
  readonly hasBody: boolean
  readonly clientAddress: string
  /** The body as it arrives, for routes that take bytes. */
  readonly stream: IncomingMessage
  /** Reads the body where it may be long: nobody makes the service read it before the caller is known (T-11). */
  collect(maxBytes?: number): Promise<void>
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length !== '0' || encoding !== undefined
}

const NO_BYTES = new Uint8Array()

type Collect = (stream: IncomingMessage, maxBytes?: number) => Promise<Uint8Array>
type AddressOf = (stream: IncomingMessage) => string

/** With what the service needs to answer it. Values that few operations need are computed on access. */
export class HttpRequest implements WireRequest {
  readonly id: string
  readonly stream: IncomingMessage
  readonly response: ServerResponse
  /** Of a clock that never jumps. */
  readonly startedAt = performance.now()
  /** In the router's notation; null until there is a route. */
  route: string | null = null
  /** Extra headers on errors of the route. */
  errorHeaders: Readonly<Record<string, string>> | undefined = undefined
  params: Readonly<Record<string, string>> = {}
  /** The text behind the question mark. */
  search = ''
  body: Uint8Array = NO_BYTES
  /** Null where the body has been read already, or is left to the operation. */
  collectBody: Collect | null = null
  readonly #addressOf: AddressOf

  constructor(id: string, stream: IncomingMessage, response: ServerResponse, addressOf: AddressOf) {
    this.id = id
    this.stream = stream
    this.response = response
    this.#addressOf = addressOf
  }

  get method(): string {
    return this.stream.method as string // every request has one
  }

  get target(): string {
    return this.stream.url as string // every request has one
  }

  get headers(): IncomingHttpHeaders {
    return this.stream.headers
  }

  get hasBody(): boolean {
    return hasBody(this.stream.headers)
  }

  get query(): RawQuery {
    return parseQuery(this.search)
  }

  get clientAddress(): string {
    return this.#addressOf(this.stream)
  }

  async collect(maxBytes?: number): Promise<void> {
    const collect = this.collectBody
    this.collectBody = null
    if (collect) this.body = await collect(this.stream, maxBytes)
  }
}
