// A JSON body: collected within limits of size and time, then parsed. Strict where readers of JSON disagree, tolerant
// where clients differ (ADD-11).

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { maxBodyBytes } from '@svc/api/endpoint'
import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { sendContinue } from './server.ts'
import { ServiceError, ValidationError } from './service-error.ts'
import { requireStorableText } from './validate.ts'
import type { WireRequest } from './wire-request.ts'

/** From the first byte to the last (T-11). */
const BODY_TIMEOUT_MS = 30_000

/** Collects a body. One that says that it is longer is refused before it is read. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  done: (error: Error | null, body?: Uint8Array) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
    request.on('error', ignore).resume()
    done(tooLarge(maxBytes))
    return
  }
  sendContinue(request)
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => finish(tooSlow()), BODY_TIMEOUT_MS)

  function finish(error: Error | null): void {
    clearTimeout(timer)
    request.off('data', take).off('end', end).off('error', broken).off('close', broken)
    // Discard the rest, so that the client gets to read the answer.
    if (error) request.on('error', ignore).resume()
    done(error, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  }
  function take(chunk: Buffer): void {
    size += chunk.length
    if (size > maxBytes) finish(tooLarge(maxBytes))
    else chunks.push(chunk)
  }
  const end = () => finish(null)
  const broken = () => finish(incompleteBody())
  request.on('data', take).on('end', end).on('error', broken).on('close', broken)
}

const ignore = () => {}

/** For endpoints whose long bodies must be signed. */
export function refuseLongBody({ body }: WireRequest): void {
  if (body.length > maxBodyBytes({})) throw tooLarge(maxBodyBytes({}))
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('body_too_large', `the body of this request may have ${maxBytes} bytes`, {
    hint: 'send less at once; /openapi.json says how long each body may be',
    details: { max_bytes: maxBytes },
  })
}

/** For requests only. Other connections that break are not the client's fault. */
export function incompleteBody(): ServiceError {
  return new ServiceError('malformed_request', 'the connection broke before the body was complete', {
    hint: 'nothing was changed: send the request again from its beginning',
  })
}

function tooSlow(): ServiceError {
  return new ServiceError('request_timeout', `the body was not there after ${BODY_TIMEOUT_MS / 1000} seconds`, {
    hint: 'nothing was changed: send the request again; if Content-Length is set, see that as many bytes follow',
  })
}

/** Stops after `maxValues` values. */
export function parseJsonBody(headers: IncomingHttpHeaders, bytes: Uint8Array, maxValues: number): Json {
  if (bytes.length === 0) return {}
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/[^;]*json/i.test(type)) {
    throw new ServiceError('unsupported_media_type', `the body came as ${type.slice(0, 100)}, and must be JSON`, {
      hint: "send Content-Type: application/json (with curl: -H 'Content-Type: application/json')",
    })
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported_encoding', 'request bodies are taken uncompressed only', {
      hint: 'send the body without Content-Encoding',
    })
  }
  const value = parse(bytes, maxValues)
  requireStorableText(value, ['body'])
  return value
}

function parse(bytes: Uint8Array, maxValues: number): Json {
  try {
    return parseStrictJson(bytes, bytes.length, maxValues)
  } catch (error) {
    throw new ValidationError({ loc: ['body'], msg: `not valid JSON: ${(error as Error).message}` })
  }
}
