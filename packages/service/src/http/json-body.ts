// A JSON body: collected within limits of size and time, then parsed. Strict where JSON parsers disagree, tolerant
// where clients differ (ADD-11).

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Json } from '@svc/protocol/canonical'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { ServiceError, ValidationError } from '../service-error.ts'
import { overloaded, sendContinue } from './server.ts'
import { requireStorableText } from './validate.ts'

/** From the first byte to the last (T-11). */
const BODY_TIMEOUT_MS = 30_000

/** The total size of the bodies that are being collected (T-11). */
const MAX_BUFFERED_BYTES = 67_108_864
const FIRST_BYTES = 4_096

export type ReadBody = (
  request: IncomingMessage,
  maxBytes: number,
  done: (error: Error | null, body?: Uint8Array) => void,
) => void

export function createBodyReader(maxBufferedBytes = MAX_BUFFERED_BYTES): ReadBody {
  let bufferedBytes = 0

  /** Collects a body. A body whose declared length is too large is rejected before it is read. */
  return (request, maxBytes, done) => {
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      request.on('error', ignore).resume()
      done(tooLarge(maxBytes))
      return
    }
    sendContinue(request)
    /** The first `size` bytes have arrived. A chunk may be a single byte, so chunks are not stored. */
    let bytes: Uint8Array = NO_BYTES
    let size = 0
    let isFinished = false
    let timer: NodeJS.Timeout | undefined
    // Most bodies arrive with their headers. They are complete by the next tick, and need no timer.
    process.nextTick(() => {
      if (!request.complete && !isFinished) timer = setTimeout(() => finish(tooSlow()), BODY_TIMEOUT_MS)
    })

    function finish(error: Error | null): void {
      isFinished = true
      clearTimeout(timer)
      bufferedBytes -= bytes.length
      request.off('data', readChunk).off('end', end).off('error', broken).off('close', broken)
      // Discard the rest, so that the client can read the answer.
      if (error) request.on('error', ignore).resume()
      done(error, bytes.subarray(0, size))
    }
    function setBuffer(larger: Uint8Array): void {
      bufferedBytes += larger.length - bytes.length
      bytes = larger
    }
    function readChunk(chunk: Buffer): void {
      const start = size
      size += chunk.length
      if (size > maxBytes) return void finish(tooLarge(maxBytes))
      // Most bodies are one chunk.
      if (start === 0) setBuffer(chunk)
      else if (size > bytes.length) setBuffer(copyOf(bytes, Math.min(maxBytes, Math.max(2 * size, FIRST_BYTES))))
      if (bufferedBytes > maxBufferedBytes) return void finish(overloaded())
      if (start > 0) bytes.set(chunk, start)
    }
    const end = () => finish(null)
    const broken = () => finish(incompleteBody())
    request.on('data', readChunk).on('end', end).on('error', broken).on('close', broken)
  }
}

const NO_BYTES = new Uint8Array()

function copyOf(bytes: Uint8Array, length: number): Uint8Array {
  const copy = Buffer.allocUnsafe(length)
  copy.set(bytes)
  return copy
}

const ignore = () => {}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('body_too_large', `the body of this request may have at most ${maxBytes} bytes`, {
    hint: 'send less at once; /openapi.json lists the limit of each body',
    details: { max_bytes: maxBytes },
  })
}

/** For requests only: other broken connections are not the client's fault. */
export function incompleteBody(): ServiceError {
  return new ServiceError('malformed_request', 'the connection broke before the body was complete', {
    hint: 'nothing was changed: send the request again from its beginning',
  })
}

function tooSlow(): ServiceError {
  return new ServiceError('request_timeout', `the body was not complete after ${BODY_TIMEOUT_MS / 1000} seconds`, {
    hint: 'nothing was changed: send the request again; if Content-Length is set, check that as many bytes follow',
  })
}

/** Stops after `maxValues` values. */
export function parseJsonBody(headers: IncomingHttpHeaders, bytes: Uint8Array, maxValues: number): Json {
  if (bytes.length === 0) return {}
  const type = headers['content-type']
  if (type !== undefined && !/^\s*application\/[\w.+-]*json\s*(;|$)/i.test(type)) {
    throw new ServiceError('unsupported_media_type', `the body has the type ${type.slice(0, 100)}, but must be JSON`, {
      hint: "send Content-Type: application/json (with curl: -H 'Content-Type: application/json')",
    })
  }
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('unsupported_encoding', 'request bodies must not be compressed', {
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
