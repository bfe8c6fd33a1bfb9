// The HTTP side of a service: routing, raw bodies, errors as JSON, CORS, one log line per request.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '@svc/api/errors'
import fastJson, { type Schema } from 'fast-json-stringify'
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify'
import { MAX_JSON_BYTES, readBody } from './json-body.ts'
import type { Log } from './log.ts'
import { type PathMatcher, pathMatcher } from './paths.ts'
import {
  answerPreflights,
  createSend,
  createSendBytes,
  EVERY_ORIGIN,
  hangUpSoon,
  type Send,
  type SendBytes,
  STARTED,
  type StartedRequest,
} from './send.ts'
import { ServiceError, ValidationError } from './service-error.ts'

export interface Service {
  app: FastifyInstance
  log: Log
  /** In development and tests every response is held against its declared schema. */
  checkResponses: boolean
  routes: PathMatcher
  send: Send
  sendBytes: SendBytes
  /** A route that takes bytes gets them as they arrive; all others have their body collected first. */
  add(route: RouteOptions, body: { takesBytes: boolean }): void
}

export interface ServiceOptions extends Pick<Service, 'log' | 'checkResponses'> {
  /** Addresses and networks whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[]
  /** Told of every answer when it leaves; of a stream, when it has ended. */
  onAnswer?: (answer: Answered) => void
}

export interface Answered {
  /** The declared path, never the one that was asked for; null where there is none. */
  route: string | null
  method: string
  status: number
  /** Since the request came. */
  seconds: number
}

const HEADERS_TIMEOUT_MS = 15_000
/** No path is longer: all headers together may have as many. */
const MAX_HEAD_BYTES = 16_384
const ERROR_HEADERS = {
  ...EVERY_ORIGIN,
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
  // Whatever the path is, it may be one that opens a file (T-07).
  'referrer-policy': 'no-referrer',
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route whose errors need more headers than others. */
    errorHeaders?: Readonly<Record<string, string>>
  }
}

export function createService({ log, checkResponses, trustedProxies = [], onAnswer }: ServiceOptions): Service {
  const send = onAnswer ? telling(createSend(log), onAnswer) : createSend(log)
  const sendBytes = onAnswer ? tellingAtEnd(createSendBytes(log), onAnswer) : createSendBytes(log)
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = error instanceof ServiceError ? error : fromFramework(error)
    const { url: route = null, config } = request.routeOptions
    if (!known) log.error({ request_id: request.id, route, err: error })
    const answer = known ?? new ServiceError('internal_error', 'something went wrong on our side')
    reply.serializer(JSON.stringify)
    // The framework would close the connection of a client that still sends, and the answer would often be lost.
    reply.removeHeader('connection')
    send(request, reply, {
      route,
      status: answer.status,
      headers: { ...ERROR_HEADERS, ...config?.errorHeaders, ...answer.headers },
      body: answer.body(request.id),
    })
  }
  const app = Fastify({
    logger: false,
    genReqId: newRequestId,
    bodyLimit: MAX_JSON_BYTES,
    // Uploads may take as long as they need; only the headers must come soon.
    requestTimeout: 0,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    routerOptions: { maxParamLength: MAX_HEAD_BYTES },
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerError,
  })
  const routes = pathMatcher()
  keepRawBodies(app)
  writeAnswersWhenNeeded(app)
  answerPreflights(app, send)
  app.setErrorHandler<FastifyError>(answerError)
  app.setNotFoundHandler((request, reply) => answerError(notServed(routes, request), request, reply))
  return { app, log, checkResponses, routes, send, sendBytes, add: routeAdder(app) }
}

type Tell = NonNullable<ServiceOptions['onAnswer']>

function telling(send: Send, tell: Tell): Send {
  return (request, reply, answer) => {
    tell(answered(request, answer.route, answer.status))
    return send(request, reply, answer)
  }
}

function tellingAtEnd(sendBytes: SendBytes, tell: Tell): SendBytes {
  return (request, reply, route, bytes) => {
    const sent = sendBytes(request, reply, route, bytes)
    const tellNow = () => tell(answered(request, route, bytes.status))
    // Where the client is gone already, nothing more will be heard of it.
    if (reply.raw.closed) tellNow()
    else reply.raw.once('close', tellNow)
    return sent
  }
}

function answered({ method, raw }: FastifyRequest, route: string | null, status: number): Answered {
  const now = performance.now()
  return { route, method, status, seconds: (now - ((raw as StartedRequest)[STARTED] ?? now)) / 1000 }
}

function routeAdder(app: FastifyInstance): Service['add'] {
  return (route, { takesBytes }) => {
    if (!takesBytes) return void app.route(route)
    // Before the framework looks at the body: its type is for the operation to judge, whatever it is.
    app.route({ ...route, onRequest: async (request, reply) => route.handler.call(app, request, reply) })
  }
}

/** Bodies stay the bytes that came: signatures and hashes are over those, and parsing comes after authentication. */
function keepRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, stream, done) => readBody(stream, done))
}

/** What writes an answer by its schema is made when the first one is to be written: made at the start, all take longest. */
function writeAnswersWhenNeeded(app: FastifyInstance): void {
  app.setSerializerCompiler<Schema>(({ schema }) => {
    let write: ((data: unknown) => string) | undefined
    return (data: unknown) => {
      write ??= fastJson(schema)
      return write(data)
    }
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
  return new ServiceError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
}

/** What the framework refuses before an operation runs; null for anything else, which is our fault. */
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
      return new ServiceError('method_not_allowed', 'nothing here answers this method')
    default:
      return code.startsWith('FST_ERR_') && statusCode < 500
        ? new ServiceError('malformed_request', 'this request cannot be read')
        : null
  }
}

/** Node's own note of the answer that is on its way. */
type AnsweringSocket = Socket & { _httpMessage?: ServerResponse | null }

const BROKEN: Record<string, ErrorCode> = { HPE_HEADER_OVERFLOW: 'headers_too_large' }

/** Requests that are not even HTTP; there is no reply object yet, so the answer is written by hand. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const underWay = (socket as AnsweringSocket)._httpMessage
  // Within an answer that is on its way, another would pass for its bytes.
  if (underWay?.headersSent) return void socket.destroy()
  const answer = new ServiceError(BROKEN[error.code ?? ''] ?? 'malformed_request', 'this is not a valid HTTP request')
  const body = JSON.stringify(answer.body(newRequestId()))
  if (!socket.writable) return
  socket.end(
    `HTTP/1.1 ${answer.status} Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
  // Whoever waits for the rest of a body must learn now that none will come.
  if (underWay) socket.destroySoon()
  else hangUpSoon(socket)
}

const processId = randomBytes(6).toString('hex')
let requestCount = 0

/** Unique across processes and restarts, without asking for randomness at every request. */
function newRequestId(raw?: IncomingMessage & StartedRequest): string {
  if (raw) raw[STARTED] = performance.now()
  return `req_${processId}${(++requestCount).toString(36)}`
}
