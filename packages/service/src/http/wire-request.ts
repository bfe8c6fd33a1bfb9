// A request as it arrived; signatures are checked against it.

import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { parseQuery, type RawQuery } from './query.ts'

export interface WireRequest {
  readonly id: string
  readonly method: string
  /** Path and query, exactly as sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** Empty for routes that stream bytes, and until the body is collected. */
  readonly body: Uint8Array
  /** Whether a body follows the headers, even if it is never read. */
  readonly hasBody: boolean
  readonly clientAddress: string
  /** The body as it arrives, for routes that accept bytes. */
  readonly stream: IncomingMessage
  /** Reads a body that may be long: unauthenticated callers must not make the service read it (T-11). */
  collect(maxBytes?: number): Promise<void>
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length !== '0' || encoding !== undefined
}

const NO_BYTES = new Uint8Array()

type Collect = (stream: IncomingMessage, maxBytes?: number) => Promise<Uint8Array>
type AddressOf = (stream: IncomingMessage) => string

/** The request, with what the service needs to answer it. Rarely used values are computed on access. */
export class HttpRequest implements WireRequest {
  readonly id: string
  readonly stream: IncomingMessage
  readonly response: ServerResponse
  /** The time of a monotonic clock. */
  readonly startedAt = performance.now()
  /** The path in the router's notation; null before routing. */
  route: string | null = null
  /** Extra headers on errors of the route. */
  errorHeaders: Readonly<Record<string, string>> | undefined = undefined
  params: Readonly<Record<string, string>> = {}
  /** The text after the question mark. */
  search = ''
  body: Uint8Array = NO_BYTES
  /** Fields of the body that the endpoint does not declare, named in the answer: one may be misspelled. */
  ignoredFields: readonly string[] = []
  /** Null when the body has been read already, or is left to the operation. */
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
