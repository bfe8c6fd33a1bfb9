// Collects a request's body: bounded in size, and in time from the first byte to the last (T-11).

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { ServiceError, ValidationError } from './service-error.ts'
import { requireStorableText } from './validate.ts'

const BODY_TIMEOUT_MS = 30_000

export function readBody(request: IncomingMessage, done: (error: Error | null, body?: Uint8Array) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  const timer = setTimeout(() => finish(tooSlow()), BODY_TIMEOUT_MS)

  function finish(error: Error | null): void {
    clearTimeout(timer)
    request.off('data', take).off('end', end).off('error', broken).off('close', broken)
    // Nothing listens to the rest: it is let pass, so that the answer can be read.
    if (error) request.on('error', ignore).resume()
    done(error, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))
  }
  function take(chunk: Buffer): void {
    size += chunk.length
    if (size > MAX_JSON_BYTES) finish(tooLarge())
    else chunks.push(chunk)
  }
  const end = () => finish(null)
  const broken = () => finish(brokenOff())
  request.on('data', take).on('end', end).on('error', broken).on('close', broken)
}

const ignore = () => {}

function tooLarge(): ServiceError {
  return new ServiceError('body_too_large', `a JSON body may have ${MAX_JSON_BYTES} bytes`)
}

/** Of a request, and of nothing else that can lose its connection. */
export function brokenOff(): ServiceError {
  return new ServiceError('malformed_request', 'the connection broke before the body was complete')
}

function tooSlow(): ServiceError {
  return new ServiceError('request_timeout', `the body was not there after ${BODY_TIMEOUT_MS / 1000} seconds`)
}

// Bytes of a request body → JSON. Strict where readers disagree, tolerant where clients differ (ADD-11).

export const MAX_JSON_BYTES = 1_048_576

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
