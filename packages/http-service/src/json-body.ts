// A JSON body: collected within limits of size and time, then parsed. Strict where readers of JSON disagree, tolerant
// where clients differ (ADD-11).

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { ServiceError, ValidationError } from './service-error.ts'
import { requireStorableText } from './validate.ts'

export const MAX_JSON_BYTES = 1_048_576
/** From the first byte to the last (T-11). */
const BODY_TIMEOUT_MS = 30_000

export function readBody(request: IncomingMessage, done: (error: Error | null, body?: Uint8Array) => void): void {
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
    if (size > MAX_JSON_BYTES) finish(tooLarge())
    else chunks.push(chunk)
  }
  const end = () => finish(null)
  const broken = () => finish(incompleteBody())
  request.on('data', take).on('end', end).on('error', broken).on('close', broken)
}

const ignore = () => {}

function tooLarge(): ServiceError {
  return new ServiceError('body_too_large', `a JSON body may have ${MAX_JSON_BYTES} bytes`)
}

/** For requests only. Other connections that break are not the client's fault. */
export function incompleteBody(): ServiceError {
  return new ServiceError('malformed_request', 'the connection broke before the body was complete')
}

function tooSlow(): ServiceError {
  return new ServiceError('request_timeout', `the body was not there after ${BODY_TIMEOUT_MS / 1000} seconds`)
}

export function parseJsonBody(headers: IncomingHttpHeaders, bytes: Uint8Array): Json {
  if (bytes.length === 0) return {}
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/[^;]*json/i.test(type)) {
    throw new ServiceError('unsupported_media_type', 'the body must be JSON', {
      hint: 'send Content-Type: application/json',
    })
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported_encoding', 'request bodies are taken uncompressed only', {
      hint: 'send the body without Content-Encoding',
    })
  }
  const value = parse(bytes)
  requireStorableText(value, ['body'])
  return value
}

function parse(bytes: Uint8Array): Json {
  try {
    return parseStrictJson(bytes, MAX_JSON_BYTES)
  } catch (error) {
    throw new ValidationError({ loc: ['body'], msg: `not valid JSON: ${(error as Error).message}` })
  }
}
