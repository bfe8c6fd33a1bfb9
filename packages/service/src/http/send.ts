// Sends every answer: its headers, its log line, its bytes.

import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream/promises'
import type { Log } from '../program/log.ts'
import type { Bytes } from './answer.ts'
import type { FileStream } from './byte-streams.ts'
import { COMPRESSED_FROM, type Compression, type Packed } from './compression.ts'
import { createSendFile } from './send-file.ts'
import { type HttpRequest, hasBody } from './wire-request.ts'

const REQUEST_HEADERS = [
  'Content-Type',
  'Idempotency-Key',
  'X402-TX',
  'PAYMENT-SIGNATURE',
  'X-PAYMENT',
  'SIGN-IN-WITH-X',
  'Accept-Payment',
  'X-Svc-Envelope',
  'X-Svc-Signature',
  'X-Svc-Identity',
  'X-Upload-Token',
  'Tus-Resumable',
  'Upload-Length',
  'Upload-Offset',
  'Upload-Metadata',
  'Upload-Defer-Length',
  'Upload-Concat',
  'Upload-Checksum',
  'X-HTTP-Method-Override',
  'X-Requested-With',
  'X-Request-ID',
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
  'WWW-Authenticate',
  'Payment-Receipt',
  'Retry-After',
  'ETag',
  'Last-Modified',
  'Accept-Ranges',
  'Content-Range',
  'Content-Disposition',
  'Location',
  'Tus-Resumable',
  'Tus-Version',
  'Tus-Extension',
  'Tus-Max-Size',
  'Tus-Checksum-Algorithm',
  'Upload-Offset',
  'Upload-Length',
  'Upload-Defer-Length',
  'Upload-Metadata',
  'Upload-Concat',
  'Upload-Expires',
  'Svc-Content-Hash',
  'Svc-Filename',
  'Svc-Ignored-Fields',
  'X-Request-Id',
].join(', ')

/** For answers to pages of other origins. */
export const EXPOSED = { 'access-control-expose-headers': EXPOSED_HEADERS }

/**
 * On every answer: any web page may call, but never with cookies (ADD-09), and browsers must trust the declared type.
 */
export const EVERY_ANSWER = { 'access-control-allow-origin': '*', 'x-content-type-options': 'nosniff' }

/** The answer to OPTIONS. */
export const PREFLIGHT = headerList({
  ...EVERY_ANSWER,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'access-control-allow-headers': REQUEST_HEADERS,
  'access-control-max-age': '86400',
})

/** Alternating names and values, which Node writes fastest. */
export type HeaderList = readonly string[]

export function headerList(headers: Readonly<Record<string, string>>): HeaderList {
  const list: string[] = []
  for (const [name, value] of Object.entries(headers)) list.push(name, value)
  return list
}

interface Outgoing {
  /** The declared path, or null when there is none. */
  route: string | null
  status: number
  headers: HeaderList
  /** Null for an answer without a body. */
  text: string | null
  /** Set if the text may be compressed. */
  compression?: Compression | null
}

export type Send = (request: HttpRequest, answer: Outgoing) => void

export interface Answered {
  /** The declared path, never the requested one; null when there is none. */
  route: string | null
  method: string
  status: number
  /** Since the request arrived. */
  seconds: number
}

export type OnAnswer = (answer: Answered) => void

/** Milliseconds since a request arrived. */
export function elapsedMs({ startedAt }: HttpRequest): number {
  return performance.now() - startedAt
}

type WriteLine = ((line: string) => void) | null

const EXPOSED_LIST = headerList(EXPOSED)
const NONE: HeaderList = []

/** Whether the service is stopping. A connection that stayed open after its answer would delay the stop. */
type IsClosing = () => boolean

export function createSend(log: Log, onAnswer: OnAnswer | null, isClosing: IsClosing): Send {
  const writeLine = lineWriter(log)
  function answered(request: HttpRequest, { route, status }: Outgoing): void {
    const ms = elapsedMs(request)
    onAnswer?.({ route, method: request.method, status, seconds: ms / 1000 })
    writeLine?.(requestLine(request, route, status, ms))
  }

  function sendPacked(request: HttpRequest, answer: Outgoing, { coding, bytes }: Packed): void {
    const { id, stream, response } = request
    answered(request, answer)
    const exposed = stream.headers.origin === undefined ? NONE : EXPOSED_LIST
    const packed = ['content-encoding', coding, 'content-length', String(bytes.length)]
    if (isClosing()) response.shouldKeepAlive = false
    response.writeHead(answer.status, withVary(answer.headers).concat(exposed, packed, ['x-request-id', id]))
    response.end(bytes)
  }

  return (request, answer) => {
    const { status, text, compression } = answer
    const { id, stream, response } = request
    discardRest(stream)
    let { headers } = answer
    if (compression && text !== null && text.length >= COMPRESSED_FROM && status === 200) {
      const packed = compression.pack(text, String(stream.headers['accept-encoding'] ?? ''))
      if (packed instanceof Promise) return void packed.then((ready) => sendPacked(request, answer, ready))
      if (packed) return sendPacked(request, answer, packed)
      headers = withVary(headers)
    }
    answered(request, answer)
    const exposed = stream.headers.origin === undefined ? NONE : EXPOSED_LIST
    const bytes = text === null ? 0 : Buffer.byteLength(text)
    const length = status === 204 ? NONE : ['content-length', String(bytes)]
    if (isClosing()) response.shouldKeepAlive = false
    response.writeHead(status, headers.concat(exposed, length, ['x-request-id', id]))
    // ASCII is the same in both encodings, and Node copies Latin-1 without checking each character.
    response.end(text, bytes === text?.length ? 'latin1' : 'utf8')
  }
}

/** Tells caches that the bytes depend on what the client accepts. */
function withVary(headers: HeaderList): HeaderList {
  const at = headers.indexOf('vary')
  return at < 0 ? [...headers, 'vary', 'accept-encoding'] : headers.with(at + 1, `${headers[at + 1]}, accept-encoding`)
}

export type SendBytes = (request: HttpRequest, route: string | null, bytes: Bytes) => void

export function createSendBytes(log: Log, isClosing: IsClosing): SendBytes {
  const writeLine = lineWriter(log)
  const sendFile = createSendFile()
  return (request, route, { status, headers, body, onBrokenOff }) => {
    const { id, stream, response } = request
    const exposed = stream.headers.origin !== undefined && EXPOSED
    discardRest(stream)
    if (isClosing()) response.shouldKeepAlive = false
    response.writeHead(status, { ...EVERY_ANSWER, ...exposed, ...headers, 'x-request-id': id })
    const finish = () => {
      writeLine?.(requestLine(request, route, status))
      // The stop may have begun after the headers were sent.
      if (isClosing()) stream.socket.end()
    }
    if (body === null || !isStream(body)) {
      response.end(body, finish)
      return
    }
    // A client that stops reading is disconnected.
    stream.setTimeout(IDLE_MS)
    const { socket } = stream
    const before = socket.bytesWritten
    const sent = isFile(body) ? sendFile(body, response) : pipeline(body, response)
    sent.then(finish, (error: NodeJS.ErrnoException) => {
      // `pipeline` does not do this when the client was gone before the first byte.
      body.destroy()
      onBrokenOff?.(Math.max(0, Number(headers['content-length']) - (socket.bytesWritten - before)))
      finish()
      // The status has been sent, so closing the connection early is the only way to report the error.
      if (!CLIENT_GONE.includes(error.code ?? '')) log.error({ request_id: id, route, err: error })
    })
  }
}

/** Whether the bytes are still to be read. */
export function isStream(body: NonNullable<Bytes['body']>): body is FileStream {
  return typeof body !== 'string' && !(body instanceof Uint8Array)
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

/**
 * Written by hand, because a logger with redaction costs more than a small answer. It names the route, never the URL:
 * paths and queries contain short-URL tokens and receipt ids, which open files.
 */
function requestLine(request: HttpRequest, route: string | null, status: number, ms = elapsedMs(request)): string {
  const { id, method } = request
  const path = route === null ? 'null' : `"${route}"`
  return `{"level":30,"time":"${isoTime()}","request_id":"${id}","method":"${method}","route":${path},"status":${status},"ms":${hundredths(ms)}}\n`
}

let lastMs = 0
let lastText = ''

/**
 * Cached, because many requests end in one millisecond, and formatting the time costs more than the rest of the line.
 */
function isoTime(): string {
  const ms = Date.now()
  if (ms !== lastMs) {
    lastMs = ms
    lastText = new Date(ms).toISOString()
  }
  return lastText
}

/** Like `toFixed(2)`, in half the time. */
function hundredths(number: number): string {
  const all = Math.round(number * 100)
  const fraction = all % 100
  return `${(all - fraction) / 100}.${fraction < 10 ? '0' : ''}${fraction}`
}

/**
 * How long the rest of a request is read and discarded after its answer. Closing the connection immediately would often
 * lose the answer, and a client may never stop sending.
 */
const DISCARD_MS = 10_000

function discardRest(request: IncomingMessage): void {
  if (request.complete || !hasBody(request.headers)) return
  setTimeout(() => request.complete || request.destroy(), DISCARD_MS).unref()
}

export function closeLater(socket: Socket): void {
  setTimeout(() => socket.destroy(), DISCARD_MS).unref()
}
