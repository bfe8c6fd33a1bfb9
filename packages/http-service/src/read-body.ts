// Collects a request's body: bounded in size, and in time from the first byte to the last (T-11).

import type { IncomingMessage } from 'node:http'
import { MAX_JSON_BYTES } from './json-body.ts'
import { ServiceError } from './service-error.ts'

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
