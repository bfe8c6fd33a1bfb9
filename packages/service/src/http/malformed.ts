// Answers bytes that are not HTTP, or whose head is too long or too late.

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorCode } from '@svc/api/errors'
import { ServiceError } from '../service-error.ts'
import { lastExchange } from './connections.ts'
import type { ErrorAnswer, RequestLine } from './foreign-protocol.ts'
import { closeLater } from './send.ts'
import { MAX_HEAD_BYTES } from './server.ts'

/** The answer to such bytes, with all its headers; `request` is what could be read of it. */
type RawAnswer = (error: ServiceError, request: RequestLine | null) => ErrorAnswer

type ParserError = [ErrorCode, string, { hint: string }]

const PARSER_ERRORS: Record<string, ParserError> = {
  HPE_HEADER_OVERFLOW: [
    'headers_too_large',
    `the path, query and headers of a request may have at most ${MAX_HEAD_BYTES} bytes together`,
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
    hint: 'this port speaks HTTP/1.1; check that the address begins with http:// and that the client speaks HTTP/1.1',
  },
]

/** For requests that are not HTTP. There is no response object, so the answer is written by hand. */
export function answerMalformedRequest(answerOf: RawAnswer, error: ParsingError, socket: Socket): void {
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
    writeAnswer(socket, answerOf(refusal, isInBody ? last.request : requestLineOf(error)))
    // An operation that waits for the rest of the body must learn now that none will come.
    if (isInBody) socket.destroySoon()
    else closeLater(socket)
  }
  // The answers of a connection are in the order of its requests.
  if (last && !isInBody && !isAnswered) last.response.once('finish', answer)
  else answer()
}

export type ParsingError = Error & { code?: string; rawPacket?: Buffer; bytesParsed?: number }

/**
 * The request line in the packet at which the head was rejected. Null when the head began in an earlier packet, or did
 * not end in time.
 */
function requestLineOf({ rawPacket, bytesParsed }: ParsingError): RequestLine | null {
  const text = rawPacket?.toString('latin1', 0, bytesParsed) ?? ''
  const head = text.slice(text.lastIndexOf('\r\n\r\n') + 1).trimStart()
  const [, method, url] = /^([A-Z]+) ([^ \r\n]+)/.exec(head) ?? []
  const [, host] = /\r\nhost:[ \t]*([^ \t\r\n]*)/i.exec(head) ?? []
  return method === undefined || url === undefined ? null : { method, url, headers: host === undefined ? {} : { host } }
}

function writeAnswer(socket: Socket, { status, headers, text }: ErrorAnswer): void {
  const all = { ...headers, 'content-length': Buffer.byteLength(text), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`)
}
