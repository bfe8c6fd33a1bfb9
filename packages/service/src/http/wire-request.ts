import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import { targetOf } from './door.ts'

/** The request as it arrived, which is what signatures are checked against. */
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
  /** Reads the body where it may be long: nobody makes the service read it before the caller is known (T-144). */
  collect(maxBytes?: number): Promise<void>
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length !== '0' || encoding !== undefined
}

const NO_BYTES = new Uint8Array()

type Collect = (request: FastifyRequest, maxBytes?: number) => Promise<Uint8Array>

/** Computes values on access, because most operations need few of them. */
export class FastifyWireRequest implements WireRequest {
  readonly #request: FastifyRequest
  #collect: Collect | null

  /** Without `collect`, the body has been read already, or is left to the operation. */
  constructor(request: FastifyRequest, collect: Collect | null = null) {
    this.#request = request
    this.#collect = collect
  }

  get id() {
    return this.#request.id
  }

  get method() {
    return this.#request.method
  }

  get target() {
    return targetOf(this.#request.raw)
  }

  get headers() {
    return this.#request.headers
  }

  get body() {
    const { body } = this.#request
    return body instanceof Uint8Array ? body : NO_BYTES
  }

  get hasBody() {
    return hasBody(this.#request.headers)
  }

  get clientAddress() {
    return this.#request.ip
  }

  get stream() {
    return this.#request.raw
  }

  async collect(maxBytes?: number) {
    const collect = this.#collect
    this.#collect = null
    if (collect) this.#request.body = await collect(this.#request, maxBytes)
  }
}
