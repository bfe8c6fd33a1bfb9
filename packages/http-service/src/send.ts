// How every answer is sent: its headers, its log line, its bytes. No framework hooks, because on a small route they cost
// as much as the work itself.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Bytes } from './answer.ts'
import type { FileStream } from './byte-streams.ts'
import type { Log } from './log.ts'
import { createSendFile } from './send-file.ts'
import { hasBody } from './wire-request.ts'

const REQUEST_HEADERS = [
  'Content-Type',
  'Idempotency-Key',
  'X402-TX',
  'PAYMENT-SIGNATURE',
  'X-Svc-Envelope',
  'X-Svc-Signature',
  'X-Svc-Identity',
  'X-Upload-Token',
  'Authorization',
  'Range',
  'If-Range',
  'If-None-Match',
  'If-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
  // Released x402 clients send this response header as a request header.
  'Access-Control-Expose-Headers',
].join(', ')

const EXPOSED_HEADERS = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'Retry-After',
  'ETag',
  'Last-Modified',
  'Accept-Ranges',
  'Content-Range',
  'Content-Disposition',
  'Location',
  'X-Request-Id',
].join(', ')

/** For answers to pages of other origins. */
export const EXPOSED = { 'access-control-expose-headers': EXPOSED_HEADERS }

/** On every answer: any web page may call, but never with cookies (ADD-09). */
export const EVERY_ORIGIN = { 'access-control-allow-origin': '*' }

const PREFLIGHT = {
  ...EVERY_ORIGIN,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': '86400',
}

interface Outgoing {
  /** The declared path, or null when there is none. Passed in, because the framework builds it at each call. */
  route: string | null
  status: number
  headers: Readonly<Record<string, string>>
  body?: unknown
}

export type Send = (request: FastifyRequest, reply: FastifyReply, answer: Outgoing) => FastifyReply

/** When a request arrived, on the raw request: the framework measures only for its own hooks. */
export const STARTED = Symbol('started')
export type StartedRequest = { [STARTED]?: number }

type WriteLine = ((line: string) => void) | null

export function createSend(log: Log): Send {
  const writeLine = lineWriter(log)
  return (request, reply, { route, status, headers, body }) => {
    discardRest(request.raw)
    reply.code(status).headers(headers).header('x-request-id', request.id)
    if (request.headers.origin !== undefined) reply.headers(EXPOSED)
    writeLine?.(requestLine(request, route, status))
    return reply.send(body)
  }
}

export type SendBytes = (request: FastifyRequest, reply: FastifyReply, route: string, bytes: Bytes) => FastifyReply

/** Bypasses the framework, whose stream handling costs a third of the speed. */
export function createSendBytes(log: Log): SendBytes {
  const writeLine = lineWriter(log)
  const sendFile = createSendFile()
  return (request, reply, route, { status, headers, stream }) => {
    const exposed = request.headers.origin !== undefined && EXPOSED
    discardRest(request.raw)
    reply.raw.writeHead(status, { ...EVERY_ORIGIN, ...headers, ...exposed, 'x-request-id': request.id })
    reply.hijack()
    const finish = () => writeLine?.(requestLine(request, route, status))
    if (!stream) {
      reply.raw.end(finish)
      return reply
    }
    // A client that stops reading is disconnected.
    request.raw.setTimeout(IDLE_MS)
    const sent = isFile(stream) ? sendFile(stream, reply.raw) : pipeline(stream, reply.raw)
    sent.then(finish, (error: NodeJS.ErrnoException) => {
      // `pipeline` does not, when the client was gone before the first byte.
      stream.destroy()
      finish()
      // The status has been sent, so closing the connection early is the only way to report the error.
      if (!CLIENT_GONE.includes(error.code ?? '')) log.error({ request_id: request.id, route, err: error })
    })
    return reply
  }
}

function isFile(stream: FileStream): stream is Required<FileStream> {
  return stream.readInto !== undefined
}

const CLIENT_GONE = ['ERR_STREAM_PREMATURE_CLOSE', 'ERR_STREAM_UNABLE_TO_PIPE', 'ECONNRESET', 'EPIPE']

/** How long a transfer may be idle. */
export const IDLE_MS = 120_000

function lineWriter(log: Log): WriteLine {
  return log.isLevelEnabled('info') ? (line) => log.output.writeSoon(line) : null
}

export function answerPreflights(app: FastifyInstance, send: Send): void {
  app.options('*', (request, reply) => send(request, reply, { route: null, status: 204, headers: PREFLIGHT }))
}

/**
 * Written by hand, because a logger with redaction costs more than a small answer. It names the route, never the URL:
 * paths and queries carry short-URL tokens and receipt ids, which open files.
 */
function requestLine({ id, method, raw }: FastifyRequest, route: string | null, status: number): string {
  const ms = performance.now() - ((raw as StartedRequest)[STARTED] ?? 0)
  const path = route === null ? 'null' : `"${route}"`
  return `{"level":30,"time":"${isoTime()}","request_id":"${id}","method":"${method}","route":${path},"status":${status},"ms":${ms.toFixed(2)}}\n`
}

let lastMs = 0
let lastText = ''

/** Cached, because many requests end in one millisecond, and formatting the time costs more than the rest of the line. */
function isoTime(): string {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    lastText = new Date(ms).toISOString()
  }
  return lastText
}

/**
 * How long the rest of a request is read and discarded after its answer. Closing the connection at once would often lose
 * the answer, and a client may never stop sending.
 */
const DISCARD_MS = 10_000

function discardRest(request: IncomingMessage): void {
  if (request.complete || !hasBody(request.headers)) return
  setTimeout(() => request.complete || request.destroy(), DISCARD_MS).unref()
}

export function closeLater(socket: Socket): void {
  setTimeout(() => socket.destroy(), DISCARD_MS).unref()
}
