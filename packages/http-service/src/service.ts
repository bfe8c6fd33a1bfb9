// The HTTP side of a service: routing, raw bodies, errors as JSON, CORS, one log line per request.

import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '@svc/api/errors'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { MAX_JSON_BYTES } from './json-body.ts'
import type { Log } from './log.ts'
import { type PathMatcher, pathMatcher } from './paths.ts'
import { answerPreflights, createSend, EVERY_ORIGIN, type Send, STARTED, type StartedRequest } from './send.ts'
import { ServiceError, ValidationError } from './service-error.ts'

export interface Service {
  app: FastifyInstance
  log: Log
  /** In development and tests every response is held against its declared schema. */
  checkResponses: boolean
  routes: PathMatcher
  send: Send
}

const HEADERS_TIMEOUT_MS = 15_000
const ERROR_HEADERS = {
  ...EVERY_ORIGIN,
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'no-store',
}

export function createService({ log, checkResponses }: Pick<Service, 'log' | 'checkResponses'>): Service {
  const send = createSend(log)
  const answerError = (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const known = error instanceof ServiceError ? error : fromFramework(error)
    const route = request.routeOptions.url ?? null
    if (!known) log.error({ request_id: request.id, route, err: error })
    const answer = known ?? new ServiceError('internal_error', 'something went wrong on our side')
    reply.serializer(JSON.stringify)
    send(request, reply, {
      route,
      status: answer.status,
      headers: { ...ERROR_HEADERS, ...answer.headers },
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
    routerOptions: { maxParamLength: 2048 },
    return503OnClosing: false,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: answerError,
  })
  const routes = pathMatcher()
  keepRawBodies(app)
  answerPreflights(app, send)
  app.setErrorHandler<FastifyError>(answerError)
  app.setNotFoundHandler((request, reply) => answerError(notServed(routes, request), request, reply))
  return { app, log, checkResponses, routes, send }
}

/** Bodies stay the bytes that came: signatures and hashes are over those, and parsing comes after authentication. */
function keepRawBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
}

function notServed(routes: PathMatcher, request: FastifyRequest): ServiceError {
  const methods = routes.methodsAt(request.url)
  if (methods.length === 0) {
    return new ServiceError('not_found', 'there is nothing at this path', {
      hint: 'see /.well-known/svc.json for what there is',
    })
  }
  const allow = methods.join(', ')
  return new ServiceError('method_not_allowed', `this path answers ${allow}`, { headers: { allow } })
}

/** What the framework refuses before an operation runs; null for anything it does not know, which is our fault. */
function fromFramework(error: unknown): ServiceError | null {
  switch ((error as FastifyError | undefined)?.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('body_too_large', `a JSON body may have ${MAX_JSON_BYTES} bytes`)
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new ValidationError({ loc: ['header', 'Content-Length'], msg: 'does not fit the body' })
    case 'FST_ERR_BAD_URL':
      return new ValidationError({ loc: ['path'], msg: 'is not valid percent-encoding' })
    case 'ECONNRESET':
    case 'ERR_STREAM_PREMATURE_CLOSE':
      return new ServiceError('malformed_request', 'the connection broke before the body was complete')
    default:
      return null
  }
}

const BROKEN: Record<string, ErrorCode> = { HPE_HEADER_OVERFLOW: 'headers_too_large' }

/** Requests that are not even HTTP; there is no reply object yet, so the answer is written by hand. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const answer = new ServiceError(BROKEN[error.code ?? ''] ?? 'malformed_request', 'this is not a valid HTTP request')
  const body = JSON.stringify(answer.body(newRequestId()))
  if (!socket.writable) return
  socket.end(
    `HTTP/1.1 ${answer.status} Bad Request\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  )
}

const processId = randomBytes(6).toString('hex')
let requestCount = 0

/** Unique across processes and restarts, without asking for randomness at every request. */
function newRequestId(raw?: IncomingMessage & StartedRequest): string {
  if (raw) raw[STARTED] = performance.now()
  return `req_${processId}${(++requestCount).toString(36)}`
}
