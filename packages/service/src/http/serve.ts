// Serves one endpoint: the steps of a request, top to bottom.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type Body, type Endpoint, maxBodyBytes, type Params, type Query, type ResponseBody } from '@svc/api/endpoint'
import type { TSchema } from 'typebox'
import { Answer, Bytes, JsonStream, JsonText } from './answer.ts'
import { createCompression } from './compression.ts'
import { requireEnvelopeHeaders } from './envelope.ts'
import { parseJsonBody } from './json-body.ts'
import { jsonWriter, type Write } from './json-writer.ts'
import { readQuery } from './query.ts'
import { pathValues, routerPath } from './router.ts'
import { EVERY_ANSWER, headerList } from './send.ts'
import type { Service } from './service.ts'
import { maxValues, requireStorableText, schemaCheck, unknownFields, validator } from './validate.ts'
import type { HttpRequest, WireRequest } from './wire-request.ts'

interface Input<E extends Endpoint, Caller> {
  params: Params<E>
  query: Query<E>
  body: Body<E>
  caller: Caller
  wire: WireRequest
}

/** What has been read before the caller is known. */
type Declared<E extends Endpoint> = Pick<Input<E, null>, 'params' | 'query'> & { wire: HttpRequest }

type AnyBody<E extends Endpoint> = ResponseBody<E> | JsonText<ResponseBody<E>> | JsonStream<ResponseBody<E>>
type Result<E extends Endpoint> = AnyBody<E> | Answer<AnyBody<E>> | Bytes
export type Operation<E extends Endpoint, Caller> = (input: Input<E, Caller>) => Result<E> | Promise<Result<E>>

/** Returns the caller, or throws. Path and query values have been validated; the body is still bytes. */
export type Authenticate<E extends Endpoint, Caller> = (
  wire: WireRequest,
  declared: { params: Params<E>; query: Query<E> },
) => Caller | Promise<Caller>

const JSON_TYPE = 'application/json; charset=utf-8'

type OpenEndpoint = Endpoint & { auth: 'public' | 'path-token' }

export function serve<E extends OpenEndpoint>(service: Service, endpoint: E, operation: Operation<E, null>): void {
  register(service, endpoint, null, operation)
}

/** Like `serve`, for callers that must authenticate first. */
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
  const needsEnvelope = typeof endpoint.auth === 'object' && !endpoint.auth.optional
  const valuesOf = pathValues(endpoint.path)
  const checkParams = endpoint.params && validator('path', endpoint.params)
  const checkQuery = endpoint.query && validator('query', endpoint.query)
  // An endpoint that also accepts bytes checks the body itself.
  const parseBody = endpoint.body && !endpoint.takesBytes ? bodyParser<E>(endpoint.body) : undefined
  const bodyLimit = maxBodyBytes(endpoint)
  // A body longer than unauthenticated callers may send is not read before the caller is known.
  const collect =
    authenticate && parseBody && bodyLimit > maxBodyBytes({})
      ? (stream: IncomingMessage, maxBytes = bodyLimit) => collectBody(service, stream, maxBytes)
      : null
  const checkResponse = service.checkResponses ? responseCheck(endpoint) : null
  const beforeWrite = endpoint.method === 'GET' || endpoint.whileBehind === 'served' ? null : service.beforeWrite
  const route = routerPath(endpoint.path)
  const firstStatus = Number(Object.keys(endpoint.responses)[0])
  const { contentType: type = JSON_TYPE } = endpoint
  const textHeaders: Record<string, string> = { 'content-type': type, ...EVERY_ANSWER, ...endpoint.headers }
  const textHeaderList = headerList(textHeaders)
  const compression = createCompression(endpoint)
  const write = endpoint.contentType ? writeText : jsonWriter(endpoint.responses)

  function readInput(wire: HttpRequest): Declared<E> {
    wire.collectBody = collect
    if (needsEnvelope) requireEnvelopeHeaders(wire)
    const params = endpoint.params && valuesOf(wire.params, wire.target)
    if (params) requireStorableText(params, ['path'])
    checkParams?.(params)
    const query = endpoint.query && readQuery(endpoint.query, wire.query)
    if (query) requireStorableText(query, ['query'])
    checkQuery?.(query)
    return { params: params as Params<E>, query: query as Query<E>, wire }
  }

  function run({ params, query, wire }: Declared<E>, caller: Caller) {
    if (!parseBody) return operation({ params, query, wire, body: undefined as Body<E>, caller })
    if (caller !== null) return operation({ params, query, wire, body: parseBody(wire), caller })
    service.badBodyLimit?.refuseExhausted(wire)
    let body: Body<E>
    try {
      body = parseBody(wire)
    } catch (error) {
      return refuseUnauthenticated(wire, error)
    }
    return operation({ params, query, wire, body, caller })
  }

  /** An unusable body counts like a usable request. */
  async function refuseUnauthenticated(wire: WireRequest, error: unknown): Promise<never> {
    await service.badBodyLimit?.count(wire)
    throw error
  }

  function send(request: HttpRequest, result: Result<E>): void {
    if (result instanceof Bytes) return void service.sendBytes(request, route, result)
    const answer = result instanceof Answer ? result : null
    const status = answer?.status ?? firstStatus
    const value = answer ? answer.body : result
    const headers = answerHeaders(request, answer)
    if (value instanceof JsonStream) {
      const pieces = request.method === 'HEAD' ? null : Readable.from(value.pieces, { objectMode: false })
      return void service.sendBytes(request, route, new Bytes(status, headers, pieces))
    }
    const written = value instanceof JsonText ? value.text : null
    checkResponse?.(status, written === null ? value : JSON.parse(written))
    service.send(request, {
      route,
      status,
      headers: headers === textHeaders ? textHeaderList : headerList(headers),
      text: written ?? write(status, value),
      compression,
    })
  }

  function answerHeaders({ ignoredFields }: HttpRequest, answer: Answer<AnyBody<E>> | null): Record<string, string> {
    if (!answer?.headers && ignoredFields.length === 0) return textHeaders
    const names = ignoredFields.map((name) => encodeURIComponent(name.toWellFormed())).join(', ')
    return { ...textHeaders, ...answer?.headers, ...(names && { 'svc-ignored-fields': names }) }
  }

  async function authenticated(request: HttpRequest, check: Authenticate<E, Caller>) {
    const input = readInput(request)
    const caller = await check(input.wire, input)
    await input.wire.collect()
    send(request, await run(input, caller))
  }

  /** A synchronous result is sent synchronously: a promise costs a small route a tenth of its speed. */
  function answer(request: HttpRequest): void | Promise<void> {
    if (authenticate) return authenticated(request, authenticate)
    const result = run(readInput(request), null as Caller)
    return result instanceof Promise ? result.then((value) => send(request, value)) : send(request, result)
  }

  const hasErrorHeaders = endpoint.headers && (endpoint.auth === 'path-token' || endpoint.errorHeaders)
  service.add({
    method: endpoint.method,
    path: endpoint.path,
    maxBodyBytes: endpoint.takesBytes || collect !== null ? null : bodyLimit,
    upload: endpoint.upload,
    // Errors of a path with a token are as private as its answers.
    errorHeaders: hasErrorHeaders ? endpoint.headers : undefined,
    handle: beforeWrite ? (request) => beforeWrite().then(() => answer(request)) : answer,
  })
}

function collectBody({ readBody }: Service, request: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    readBody(request, maxBytes, (error, body) => (error ? reject(error) : resolve(body as Uint8Array))) // one of the two
  })
}

const writeText: Write = (_status, value) => value as string // endpoints with a type of their own declare text

function bodyParser<E extends Endpoint>(schema: TSchema): (wire: HttpRequest) => Body<E> {
  const check: (value: unknown) => void = validator('body', schema)
  const limit = maxValues(schema)
  const unknownIn = unknownFields(schema)
  return (wire) => {
    const body = parseJsonBody(wire.headers, wire.body, limit)
    check(body)
    wire.ignoredFields = unknownIn(body)
    return body as Body<E> // just checked
  }
}

function responseCheck(endpoint: Endpoint): (status: number, body: unknown) => void {
  const checks = new Map(
    Object.entries(endpoint.responses).map(([status, schema]) => [Number(status), schemaCheck(schema)]),
  )
  return (status, body) => {
    const check = checks.get(status)
    const problem = check ? check(body) : `status ${status} is not declared`
    if (problem) throw new Error(`${endpoint.name} returns a response that its declaration does not allow: ${problem}`)
  }
}
