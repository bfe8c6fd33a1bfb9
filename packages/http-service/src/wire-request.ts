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
  /** Empty for routes that stream bytes. */
  readonly body: Uint8Array
  /** Whether a body follows the headers, also when it is never read. */
  readonly hasBody: boolean
  readonly clientAddress: string
  /** The body as it arrives, for routes that take bytes. */
  readonly stream: IncomingMessage
}

export function hasBody(headers: IncomingHttpHeaders): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = headers
  return length !== '0' || encoding !== undefined
}

const NO_BYTES = new Uint8Array()

/** Computes values on access, because most operations need few of them. */
export class FastifyWireRequest implements WireRequest {
  readonly #request: FastifyRequest

  constructor(request: FastifyRequest) {
    this.#request = request
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
}
