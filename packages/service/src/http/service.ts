// The HTTP side of a service: routing, raw bodies, errors as JSON, CORS, one log line per request.

import { randomBytes } from 'node:crypto'
import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { errorUrl } from '@svc/api/error-pages'
import type { ErrorCode } from '@svc/api/errors'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify'
import type { Log } from '../program/log.ts'
import { ServiceError, ValidationError } from '../service-error.ts'
import { tracedHandler } from '../tracing/requests.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Admit } from './admission.ts'
import { lastExchange } from './connections.ts'
import { type Door, doorFinder, type ErrorAnswer, type RequestLine, targetOf } from './door.ts'
import { createBodyReader, type ReadBody } from './json-body.ts'
import { type PathMatcher, pathMatcher } from './paths.ts'
import { parseQuery } from './query.ts'
import {
  answerPreflights,
  closeLater,
  createSend,
  createSendBytes,
  EVERY_ANSWER,
  EXPOSED,
  elapsedMs,
  headerList,
  type OnAnswer,
  type Send,
  type SendBytes,
  STARTED,
  type StartedRequest,
} from './send.ts'
import { createHttpServer, MAX_HEAD_BYTES, type Refuse } from './server.ts'
import { withUploadDetails } from './upload-errors.ts'
import type { WireRequest } from './wire-request.ts'

/** Of the framework. Endpoints see a `WireRequest` instead; doors for other protocols answer by themselves. */
export type Request = FastifyRequest
export type Reply = FastifyReply

export interface Service {
  app: FastifyInstance
  log: Log
  /** Whether every response is checked against its schema, as in development and tests. */
  checkResponses: boolean
  strangers: StrangerLimit | null
  beforeWrite: (() => Promise<void>) | null
  routes: PathMatcher
  readBody: ReadBody
  send: Send
  sendBytes: SendBytes
  addDoor(door: Door): void
  /** A route that takes bytes reads its body itself; other routes get it collected first. */
  add(route: RouteOptions, body: { takesBytes: boolean }): void
}

/** A limit on bodies that cannot be used, for callers that show no credential before their body is parsed (T-35). */
export interface StrangerLimit {
  /** Throws when the caller is known to be over the limit; counts nothing. */
  refuseExhausted(wire: WireRequest): void
  /** Counts a request whose body could not be used. Operations count the others themselves. */
  count(wire: WireRequest): Promise<void>
}

export interface ServiceOptions extends Pick<Service, 'log' | 'checkResponses'> {
  strangers?: StrangerLimit
  /** Awaited before anything of a request is read that may write: every method but GET, unless its endpoint is excepted. */
  beforeWrite?: () => Promise<void>
  /** Errors name a page about their code below it. */
  baseUrl?: string
  /** Addresses and networks whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[]
  /** Which requests are taken on; without it all are. */
  admit?: Admit | null
  /** Called for every request that is not. */
  onShed?: () => void
  /** Called for every answer when it is sent, and for a stream when it has ended. */
  onAnswer?: OnAnswer
  /** Whether an error means that the database is away: then the answer is 503, and the client may try again. */
  isDatabaseUnavailable?: (error: unknown) => boolean
  /** Null where nothing is traced. */
  tracer?: Tracer | null
}

const ERROR_HEADERS = {
  ...EVERY_ANSWER,
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  // The path may hold a token that opens a file (T-07).
  'referrer-policy': 'no-referrer',
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Extra headers on errors of a route. */
    errorHeaders?: Readonly<Record<string, string>>
  }
}

export function createService(options: ServiceOptions): Service {
  const { log, checkResponses, strangers = null, beforeWrite = null, baseUrl = null, trustedProxies = [] } = options
  const { admit = null, tracer = null, onAnswer, onShed } = options
  const doors: Door[] = []
  const findDoor = doorFinder(doors)
  const routes = pathMatcher()
  const ownAnswer = errorAnswer(baseUrl, routes)
  const answerOf: AnswerError = (error, id, request) =>
    (request && findDoor(request)?.answerOf(error, id, request)) ?? ownAnswer(error, id, request)
  const send = createSend(log, onAnswer ?? null)
  const sendBytes = onAnswer ? observedAtEnd(createSendBytes(log), onAnswer) : createSendBytes(log)
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = error instanceof ServiceError ? error : fromFramework(error)
    const { url: route = null, config } = request.routeOptions
    if (!known) log.error({ request_id: request.id, route, err: error })
    const refusal = known ?? (options.isDatabaseUnavailable?.(error) ? databaseUnavailable() : internalError())
    const { status, headers, text } = answerOf(refusal, request.id, request.raw)
    send(request, reply, { route, status, headers: headerList({ ...headers, ...config?.errorHeaders }), text })
  }
  const refuse: Refuse = (request, response, error, { close }) => {
    const id = newRequestId(request)
    if (error.code === 'overloaded') onShed?.()
    else logUnread(log, id, error)
    const { status, headers, text } = answerOf(error, id, request)
    response.writeHead(status, { ...rawHeaders(id), ...headers, ...(close && { connection: 'close' }) }).end(text)
  }
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    serverFactory: (handle) => createHttpServer({ handle, refuse, admit }),
    routerOptions: { maxParamLength: MAX_HEAD_BYTES, querystringParser: parseQuery },
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    return503OnClosing: false,
    rewriteUrl: (request) => findDoor(request)?.route ?? request.url ?? '',
    // The framework declares the packet of an error as JSON would have it.
    clientErrorHandler: (error: Error, socket) => answerMalformedRequest(log, answerOf, error as ParsingError, socket),
    frameworkErrors: answerError,
  })
  const readBody = createBodyReader()
  keepRawBodies(app, readBody)
  answerPreflights(app, send)
  app.setErrorHandler<FastifyError>(answerError)
  app.setNotFoundHandler((request, reply) => answerError(notServed(routes, request), request, reply))
  const addDoor = (door: Door) => void doors.push(door)
  const add = routeAdder(app, tracer)
  return { app, log, checkResponses, strangers, beforeWrite, routes, readBody, send, sendBytes, addDoor, add }
}

type AnswerError = (error: ServiceError, requestId: string, request: RequestLine | null) => ErrorAnswer

function errorAnswer(baseUrl: string | null, routes: PathMatcher): AnswerError {
  return (error, requestId, request) => {
    const page = baseUrl !== null && { docs_url: errorUrl(baseUrl, error.code) }
    const upload = request && routes.uploadAt(request.method ?? '', targetOf(request))
    const text = JSON.stringify(withUploadDetails({ ...error.body(requestId), ...page }, upload))
    return { status: error.status, headers: { ...ERROR_HEADERS, ...error.headers }, text }
  }
}

function observedAtEnd(sendBytes: SendBytes, onAnswer: OnAnswer): SendBytes {
  return (request, reply, route, bytes) => {
    const sent = sendBytes(request, reply, route, bytes)
    const report = () =>
      onAnswer({ route, method: request.method, status: bytes.status, seconds: elapsedMs(request) / 1000 })
    // When the client is already gone, there is no further event.
    if (reply.raw.closed) report()
    else reply.raw.once('close', report)
    return sent
  }
}

function routeAdder(app: FastifyInstance, tracer: Tracer | null): Service['add'] {
  return (plain, { takesBytes }) => {
    const route = tracer ? { ...plain, handler: tracedHandler(tracer, plain) } : plain
    if (!takesBytes) return void app.route(route)
    // Handled before the framework checks the content type, which is the operation's to judge.
    const handle = async (request: FastifyRequest, reply: FastifyReply) => route.handler.call(app, request, reply)
    app.route({ ...route, onRequest: handle })
  }
}

/** Bodies stay raw bytes: signatures and hashes are over those, and parsing comes after authentication. */
function keepRawBodies(app: FastifyInstance, readBody: ReadBody): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (request, stream, done) => {
    if (request.is404) done(null)
    else readBody(stream, request.routeOptions.bodyLimit as number, done) // every route has one
  })
}

function notServed(routes: PathMatcher, request: FastifyRequest): ServiceError {
  const methods = routes.methodsAt(request.url)
  if (methods.length === 0) {
    return new ServiceError('not_found', 'there is nothing at this path', {
      hint: '/openapi.json says what there is',
    })
  }
  const allow = methods.join(', ')
  return new ServiceError('method_not_allowed', `this path answers ${allow}`, {
    hint: `send ${allow}; /openapi.json says what each does`,
    headers: { allow },
  })
}

/** Errors of the framework that are the client's fault; null for anything else, which is ours. */
function fromFramework(error: unknown): ServiceError | null {
  const { code = '', statusCode = 500 } = (error ?? {}) as Partial<FastifyError>
  switch (code) {
    case 'FST_ERR_BAD_URL':
      return new ValidationError({ loc: ['path'], msg: 'is not valid percent-encoding' })
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('unsupported_media_type', 'Content-Type is not a media type', {
        hint: 'send Content-Type: application/json',
      })
    case 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE':
      return new ServiceError('method_not_allowed', 'nothing here answers this method', { hint: METHODS })
    default:
      return code.startsWith('FST_ERR_') && statusCode < 500
        ? new ServiceError('malformed_request', 'this request cannot be read', { hint: METHODS })
        : null
  }
}

function databaseUnavailable(): ServiceError {
  return new ServiceError('database_unavailable', 'the database does not answer at the moment', {
    hint: 'send the request again after Retry-After, with a new envelope if it is signed; confirming a payment again is safe',
    headers: { 'retry-after': String(DATABASE_RETRY_SECONDS) },
  })
}

function internalError(): ServiceError {
  return new ServiceError('internal_error', 'something went wrong on our side', { hint: OUR_FAULT })
}

const DATABASE_RETRY_SECONDS = 5
const OUR_FAULT = 'try again in a moment; if it stays so, tell the operator the request_id'
const METHODS = 'see /openapi.json for the paths and methods there are'

type ParserError = [ErrorCode, string, { hint: string }]

const PARSER_ERRORS: Record<string, ParserError> = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `the path, query and headers of a request may have ${MAX_HEAD_BYTES} bytes together`,
    { hint: 'send fewer or shorter headers, or a shorter query' },
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    'request_timeout',
    'the headers of the request did not arrive in time',
    { hint: 'send the request again; nothing was changed' },
  ],
}
const NOT_HTTP: ParserError = [
  'malformed_request',
  'this is not a valid HTTP request',
  {
    hint: 'this port speaks HTTP/1.1; is the address http:// and not https://, or the client behind another protocol?',
  },
]

/** For requests that are not HTTP. There is no reply object, so the answer is written by hand. */
function answerMalformedRequest(log: Log, answerOf: AnswerError, error: ParsingError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const last = lastExchange(socket)
  const isInBody = last !== null && !last.request.complete
  const isAnswered = last?.response.headersSent === true
  // A request that waits for the answers of earlier ones has no socket yet.
  const isQueued = last !== null && last.response.socket === null && !last.response.writableFinished
  if (isQueued && isInBody) return void socket.destroy()
  // A second answer would be read as part of the one that is being sent, or as the answer to another request.
  if (isAnswered && (isInBody || !last.response.writableFinished)) return void socket.destroy()
  const answer = () => {
    if (!socket.writable) return
    const refusal = new ServiceError(...(PARSER_ERRORS[error.code ?? ''] ?? NOT_HTTP))
    writeError(log, answerOf, socket, refusal, isInBody ? last.request : requestLineOf(error))
    // An operation that waits for the rest of the body must learn now that none will come.
    if (isInBody) socket.destroySoon()
    else closeLater(socket)
  }
  // The answers of a connection are in the order of its requests.
  if (last && !isInBody && !isAnswered) last.response.once('finish', answer)
  else answer()
}

type ParsingError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

/**
 * Of a request whose head was given up: from the packet in which that happened. Null where the head began in an earlier
 * one, and where it did not come to its end in time.
 */
function requestLineOf({ rawPacket, bytesParsed }: ParsingError): RequestLine | null {
  const text = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  const head = text.slice(text.lastIndexOf('\r\n\r\n') + 1).trimStart()
  const [, method, url] = /^([A-Z]+) ([^ \r\n]+)/.exec(head) ?? []
  const [, host] = /\r\nhost:[ \t]*([^ \t\r\n]*)/i.exec(head) ?? []
  return method === undefined || url === undefined ? null : { method, url, headers: host === undefined ? {} : { host } }
}

function writeError(
  log: Log,
  answerOf: AnswerError,
  socket: Socket,
  error: ServiceError,
  request: RequestLine | null,
): void {
  const id = newRequestId()
  const { status, headers, text } = answerOf(error, id, request)
  const all = { ...rawHeaders(id), ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  logUnread(log, id, error)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}

function logUnread(log: Log, id: string, { status, message }: ServiceError): void {
  log.info({ request_id: id, status }, message)
}

/** For answers that the framework does not send. */
function rawHeaders(id: string): Record<string, string> {
  return { ...EXPOSED, 'x-request-id': id }
}

const processId = randomBytes(6).toString('hex')
let requestCount = 0

/** Unique across processes and restarts, without new randomness for every request. */
function newRequestId(raw?: IncomingMessage & StartedRequest): string {
  if (raw) raw[STARTED] = performance.now()
  return `req_${processId}${(++requestCount).toString(36)}`
}
