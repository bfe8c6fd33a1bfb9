// One endpoint on one service: the order in which a request is looked at, top to bottom.

import type { IncomingHttpHeaders } from 'node:http'
import type { Body, Endpoint, Params, Query, ResponseBody } from '@svc/api/endpoint'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseJsonBody } from './json-body.ts'
import { routerPath } from './paths.ts'
import { EVERY_ORIGIN } from './send.ts'
import type { Service } from './service.ts'
import { requireStorableText } from './storable-text.ts'
import { readQuery, schemaCheck, validator } from './validate.ts'

/** The request as it came over the wire: what signatures are checked against. */
export interface WireRequest {
  readonly id: string
  readonly method: string
  /** Path and query, exactly as sent. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly body: Uint8Array
  readonly clientAddress: string
}

/** Looks things up when asked: most operations need little of it. */
class FastifyWireRequest implements WireRequest {
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
    return this.#request.raw.url ?? ''
  }

  get headers() {
    return this.#request.headers
  }

  get body() {
    return (this.#request.body as Uint8Array | undefined) ?? NO_BYTES
  }

  get clientAddress() {
    return this.#request.ip
  }
}

interface Input<E extends Endpoint, Caller> {
  params: Params<E>
  query: Query<E>
  body: Body<E>
  caller: Caller
  wire: WireRequest
}

/** A response other than the endpoint's first declared status, or with headers of its own. */
export class Answer<B> {
  readonly status: number
  readonly body: B
  readonly headers: Record<string, string> | undefined

  constructor(status: number, body: B, headers?: Record<string, string>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

/** A body that is JSON text already, as it was stored: sent as it is. */
export class JsonText<B> {
  readonly text: string
  /** Only for the compiler: what the text says. */
  declare readonly of: B

  constructor(text: string) {
    this.text = text
  }
}

type AnyBody<E extends Endpoint> = ResponseBody<E> | JsonText<ResponseBody<E>>
type Result<E extends Endpoint> = AnyBody<E> | Answer<AnyBody<E>>
type Operation<E extends Endpoint, Caller> = (input: Input<E, Caller>) => Result<E> | Promise<Result<E>>

/** Says who is calling, or throws. It sees the path's and query's values, checked, and the body's bytes, unread. */
export type Authenticate<E extends Endpoint, Caller> = (
  wire: WireRequest,
  declared: { params: Params<E>; query: Query<E> },
) => Caller | Promise<Caller>

const NO_BYTES = new Uint8Array()
const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }

type PublicEndpoint = Endpoint & { auth: 'public' }

export function serve<E extends PublicEndpoint>(service: Service, endpoint: E, operation: Operation<E, null>): void {
  register(service, endpoint, null, operation)
}

/** As `serve`, for callers that must show who they are first. */
export function serveKnown<E extends Endpoint, Caller>(
  service: Service,
  endpoint: E,
  authenticate: Authenticate<E, Caller>,
  operation: Operation<E, Caller>,
): void {
  register(service, endpoint, authenticate, operation)
}

function register<E extends Endpoint, Caller>(
  service: Service,
  endpoint: E,
  authenticate: Authenticate<E, Caller> | null,
  operation: Operation<E, Caller>,
): void {
  const checkParams = endpoint.params && validator('path', endpoint.params)
  const checkQuery = endpoint.query && validator('query', endpoint.query)
  const checkBody = endpoint.body && validator('body', endpoint.body)
  const checkResponse = service.checkResponses ? responseCheck(endpoint) : null
  const route = routerPath(endpoint.path)
  const firstStatus = Number(Object.keys(endpoint.responses)[0])
  const type = endpoint.contentType && { 'content-type': endpoint.contentType }
  const headers = { ...EVERY_ORIGIN, ...type, ...endpoint.headers }
  const textHeaders = { ...JSON_TYPE, ...headers }

  function readInput(request: FastifyRequest): Omit<Input<E, Caller>, 'body' | 'caller'> {
    if (endpoint.params) requireStorableText(request.params, ['path'])
    checkParams?.(request.params)
    const query = endpoint.query && readQuery(endpoint.query, request.query as Record<string, unknown>)
    if (query) requireStorableText(query, ['query'])
    checkQuery?.(query)
    return { params: request.params as Params<E>, query: query as Query<E>, wire: new FastifyWireRequest(request) }
  }

  function run(input: Omit<Input<E, Caller>, 'body' | 'caller'>, caller: Caller) {
    const body = endpoint.body && parseJsonBody(input.wire.headers, input.wire.body)
    checkBody?.(body)
    return operation({ ...input, body: body as Body<E>, caller })
  }

  function send(request: FastifyRequest, reply: FastifyReply, result: Result<E>): FastifyReply {
    const answer = result instanceof Answer ? result : null
    const status = answer?.status ?? firstStatus
    const value = answer ? answer.body : result
    const text = value instanceof JsonText ? value.text : null
    checkResponse?.(status, text === null ? value : JSON.parse(text))
    const own = text === null ? headers : textHeaders
    return service.send(request, reply, {
      route,
      status,
      headers: answer?.headers ? { ...own, ...answer.headers } : own,
      body: text ?? value,
    })
  }

  async function authenticated(request: FastifyRequest, reply: FastifyReply, check: Authenticate<E, Caller>) {
    const input = readInput(request)
    return send(request, reply, await run(input, await check(input.wire, input)))
  }

  /** A public operation that answers at once is sent at once: a promise costs a small route a tenth of its speed. */
  function handle(request: FastifyRequest, reply: FastifyReply) {
    if (endpoint.params && hasEmptyValue(request.params)) return reply.callNotFound()
    if (authenticate) return authenticated(request, reply, authenticate)
    const result = run(readInput(request), null as Caller)
    return result instanceof Promise
      ? result.then((value) => send(request, reply, value))
      : send(request, reply, result)
  }

  service.routes.add(endpoint.method, endpoint.path)
  service.app.route({
    method: endpoint.method,
    url: route,
    schema: endpoint.contentType ? {} : { response: endpoint.responses },
    // The framework's own validation stays off: it would run before authentication, and coerce.
    attachValidation: false,
    handler: handle,
  })
}

/** The router takes `/things/` for `/things/{name}` with an empty name; there is no such thing. */
function hasEmptyValue(params: unknown): boolean {
  return Object.values(params as Record<string, string>).includes('')
}

function responseCheck(endpoint: Endpoint): (status: number, body: unknown) => void {
  const checks = new Map(
    Object.entries(endpoint.responses).map(([status, schema]) => [Number(status), schemaCheck(schema)]),
  )
  return (status, body) => {
    const check = checks.get(status)
    const problem = check ? check(body) : `status ${status} is not declared`
    if (problem) throw new Error(`${endpoint.name} answers against its declaration: ${problem}`)
  }
}
