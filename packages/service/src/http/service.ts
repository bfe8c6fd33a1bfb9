// The HTTP side of a service: routing, raw bodies, errors as JSON, CORS, one log line per request.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { errorUrl } from '@svc/api/error-pages'
import type { Log } from '../program/log.ts'
import { ServiceError, ValidationError } from '../service-error.ts'
import { tracedHandler } from '../tracing/requests.ts'
import type { Tracer } from '../tracing/tracer.ts'
import type { Admit } from './admission.ts'
import type { Bytes } from './answer.ts'
import { clientAddressReader } from './client-address.ts'
import { type ErrorAnswer, type ForeignProtocol, protocolFinder, type RequestLine } from './foreign-protocol.ts'
import { createBodyReader, type ReadBody } from './json-body.ts'
import { close } from './listen.ts'
import { answerMalformedRequest } from './malformed.ts'
import { createRouter, type Route, type Router } from './router.ts'
import {
  createSend,
  createSendBytes,
  EVERY_ANSWER,
  EXPOSED,
  elapsedMs,
  headerList,
  type OnAnswer,
  PREFLIGHT,
  type Send,
  type SendBytes,
} from './send.ts'
import { createHttpServer, type Refuse } from './server.ts'
import { withUploadDetails } from './upload-errors.ts'
import { HttpRequest, hasBody, type WireRequest } from './wire-request.ts'

export interface Service {
  server: Server
  log: Log
  /** Whether every response is checked against its schema, as in development and tests. */
  checkResponses: boolean
  badBodyLimit: BadBodyLimit | null
  beforeWrite: (() => Promise<void>) | null
  readBody: ReadBody
  send: Send
  sendBytes: SendBytes
  addForeignProtocol(protocol: ForeignProtocol): void
  add(route: Route): void
  /** Finishes running requests and accepts no new connections. */
  close(): Promise<void>
}

/** A limit on unusable bodies, for callers without a credential before their body is parsed (T-35). */
export interface BadBodyLimit {
  /** Throws when the caller is known to be over the limit; counts nothing. */
  refuseExhausted(wire: WireRequest): void
  /** Counts a request whose body could not be used. Operations count the others themselves. */
  count(wire: WireRequest): Promise<void>
}

export interface ServiceOptions extends Pick<Service, 'log' | 'checkResponses'> {
  badBodyLimit?: BadBodyLimit
  /** Awaited before a request that may write is read: every method but GET, unless its endpoint is excepted. */
  beforeWrite?: () => Promise<void>
  /** The base URL of the pages about error codes. */
  baseUrl?: string
  /** The page that a browser gets instead of an error; null for the error itself. */
  errorPage?: (wire: WireRequest & { route: string | null }, error: ServiceError) => Bytes | null
  /** Addresses and networks whose X-Forwarded-For is trusted. */
  trustedProxies?: readonly string[]
  /** Decides which requests are accepted; without it all are. */
  admit?: Admit | null
  /** Called for every rejected request. */
  onShed?: () => void
  /** Called for every answer when it is sent, and for a stream when it has ended. */
  onAnswer?: OnAnswer
  /** Whether an error means that the database is unavailable: the answer is then 503, and the client may retry. */
  isDatabaseUnavailable?: (error: unknown) => boolean
  /** Null when nothing is traced. */
  tracer?: Tracer | null
}

const ERROR_HEADERS = {
  ...EVERY_ANSWER,
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  // The path may contain a token that opens a file (T-07).
  'referrer-policy': 'no-referrer',
}

export function createService(options: ServiceOptions): Service {
  const { log, checkResponses, badBodyLimit = null, beforeWrite = null, baseUrl = null, trustedProxies = [] } = options
  const { admit = null, tracer = null, onAnswer, onShed } = options
  const protocols: ForeignProtocol[] = []
  const findForeignProtocol = protocolFinder(protocols)
  const router = createRouter()
  const addressOf = clientAddressReader(trustedProxies)
  const readBody = createBodyReader()
  const ownAnswer = errorAnswer(baseUrl, router)
  const answerOf: AnswerError = (error, id, request) =>
    (request && findForeignProtocol(request)?.answerOf(error, id, request)) ?? ownAnswer(error, id, request)
  let isClosing = false
  const send = createSend(log, onAnswer ?? null, () => isClosing)
  const plainSendBytes = createSendBytes(log, () => isClosing)
  const sendBytes = onAnswer ? observedAtEnd(plainSendBytes, onAnswer) : plainSendBytes

  function fail(request: HttpRequest, error: unknown): void {
    const { id, route, stream, errorHeaders } = request
    const known = error instanceof ServiceError ? error : null
    if (!known) log.error({ request_id: id, route, err: error })
    if (request.response.headersSent) return
    const refusal = known ?? (options.isDatabaseUnavailable?.(error) ? databaseUnavailable() : internalError())
    const page = options.errorPage?.(request, refusal)
    if (page) return void sendBytes(request, route, page)
    const { status, headers, text } = answerOf(refusal, id, stream)
    send(request, { route, status, headers: headerList({ ...headers, ...errorHeaders }), text })
  }

  function run(request: HttpRequest, route: Route): void {
    try {
      const result = route.handle(request)
      if (result instanceof Promise) result.catch((error) => fail(request, error))
    } catch (error) {
      fail(request, error)
    }
  }

  function handle(stream: IncomingMessage, response: ServerResponse): void {
    const request = new HttpRequest(newRequestId(), stream, response, addressOf)
    const { method } = request
    const target = findForeignProtocol(stream)?.route ?? request.target
    const found = router.find(method, target)
    if (found === 'malformed') return void fail(request, notPercentEncoded())
    if (found === null) {
      if (method === 'OPTIONS') return void send(request, { route: null, status: 204, headers: PREFLIGHT, text: null })
      return void fail(request, notServed(router.methodsAt(target)))
    }
    const { route, params, search } = found
    request.route = route.routerPath
    request.errorHeaders = route.errorHeaders
    request.params = params
    request.search = search
    const { maxBodyBytes } = route
    if (maxBodyBytes === null || method === 'GET' || method === 'HEAD' || !hasBody(stream.headers))
      return void run(request, route)
    // Bodies stay raw bytes: signatures and hashes cover those, and parsing comes after authentication.
    readBody(stream, maxBodyBytes, (error, body) => {
      if (error) return void fail(request, error)
      request.body = body as Uint8Array // set when there is no error
      run(request, route)
    })
  }

  const refuse: Refuse = (request, response, error, { close }) => {
    const id = newRequestId()
    if (error.code === 'overloaded') onShed?.()
    else logUnread(id, error)
    const { status, headers, text } = answerOf(error, id, request)
    response.writeHead(status, { ...rawHeaders(id), ...headers, ...(close && { connection: 'close' }) }).end(text)
  }

  /** The whole answer to bytes that are not a request, as text: there is no response object. */
  function rawAnswer(error: ServiceError, request: RequestLine | null): ErrorAnswer {
    const id = newRequestId()
    logUnread(id, error)
    const answer = answerOf(error, id, request)
    return { ...answer, headers: { ...rawHeaders(id), ...answer.headers } }
  }

  function logUnread(id: string, { status, message }: ServiceError): void {
    log.info({ request_id: id, status }, message)
  }

  const server = createHttpServer({ handle, refuse, admit })
  // Without TLS every connection is a socket.
  server.on('clientError', (error, socket) => answerMalformedRequest(rawAnswer, error, socket as Socket))
  return {
    server,
    log,
    checkResponses,
    badBodyLimit,
    beforeWrite,
    readBody,
    send,
    sendBytes,
    addForeignProtocol: (protocol) => void protocols.push(protocol),
    add: (route) => router.add(tracer ? { ...route, handle: tracedHandler(tracer, route) } : route),
    async close() {
      isClosing = true
      await close(server)
    },
  }
}

type AnswerError = (error: ServiceError, requestId: string, request: RequestLine | null) => ErrorAnswer

function errorAnswer(baseUrl: string | null, router: Router): AnswerError {
  return (error, requestId, request) => {
    const page = baseUrl !== null && { docs_url: errorUrl(baseUrl, error.code) }
    const upload = request && router.uploadAt(request.method ?? '', request.url ?? '')
    const text = JSON.stringify(withUploadDetails({ ...error.body(requestId), ...page }, upload))
    return { status: error.status, headers: { ...ERROR_HEADERS, ...error.headers }, text }
  }
}

function observedAtEnd(sendBytes: SendBytes, onAnswer: OnAnswer): SendBytes {
  return (request, route, bytes) => {
    sendBytes(request, route, bytes)
    const { method, response } = request
    const report = () => onAnswer({ route, method, status: bytes.status, seconds: elapsedMs(request) / 1000 })
    // When the client is already gone, no further event follows.
    if (response.closed) report()
    else response.once('close', report)
  }
}

function notPercentEncoded(): ServiceError {
  return new ValidationError({ loc: ['path'], msg: 'is not valid percent-encoding' })
}

function notServed(methods: readonly string[]): ServiceError {
  if (methods.length === 0) {
    return new ServiceError('not_found', 'this path does not exist', {
      hint: '/openapi.json lists all paths',
    })
  }
  const allow = methods.join(', ')
  return new ServiceError('method_not_allowed', `this path only accepts ${allow}`, {
    hint: `use ${allow}; /openapi.json describes each method`,
    headers: { allow },
  })
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
const OUR_FAULT = "try again in a moment; if the error persists, send the request_id to the service's admin"

/** For answers that `send` does not send. */
function rawHeaders(id: string): Record<string, string> {
  return { ...EXPOSED, 'x-request-id': id }
}

const processId = randomBytes(6).toString('hex')
let requestCount = 0

/** Unique across processes and restarts, without new randomness for every request. */
function newRequestId(): string {
  return `req_${processId}${(++requestCount).toString(36)}`
}
