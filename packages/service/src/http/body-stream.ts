// A request's body as it arrives, for operations that store it. Destroying this stream keeps the connection open for
// the answer; destroying the request itself would close its socket.

import { Readable } from 'node:stream'
import { ServiceError } from '../service-error.ts'
import { freeChunks, type OwnedChunks } from './byte-streams.ts'
import { incompleteBody } from './json-body.ts'
import { IDLE_MS } from './send.ts'
import { sendContinue } from './server.ts'
import type { WireRequest } from './wire-request.ts'

/** Checks the declared length before the first byte is read. */
export function requireBodyWithin({ headers }: WireRequest, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
}

/**
 * Fails when the connection breaks, the client stalls for too long, or sends more than `maxBytes`. Buffers up to
 * `aheadBytes` before they are read.
 */
export function bodyStream(wire: WireRequest, maxBytes: number, aheadBytes?: number): OwnedChunks {
  requireBodyWithin(wire, maxBytes)
  const request = wire.stream
  let received = 0
  // Runs only while we wait for the client, not while the storage is slow.
  const idle = setTimeout(() => request.isPaused() || body.destroy(stalled()), IDLE_MS)
  const stream = new Readable({
    ...(aheadBytes !== undefined && { highWaterMark: aheadBytes }),
    read() {
      idle.refresh()
      request.resume()
    },
    destroy(error, done) {
      clearTimeout(idle)
      request.off('data', readChunk).off('end', end).off('error', broken).off('close', broken)
      request.on('error', ignore).resume()
      done(error)
    },
  })
  const body = Object.assign(stream, { free: freeChunks })
  function readChunk(chunk: Buffer): void {
    received += chunk.length
    idle.refresh()
    if (received > maxBytes) body.destroy(tooLarge(maxBytes))
    else if (!body.push(chunk)) request.pause()
  }
  function end(): void {
    clearTimeout(idle)
    body.push(null)
  }
  const broken = () => void (request.readableEnded || body.destroy(incompleteBody()))
  // The stream may fail before it has a listener; a later reader still gets the error.
  body.on('error', ignore)
  if (request.destroyed) return body.destroy(incompleteBody())
  sendContinue(request)
  request.on('data', readChunk).on('end', end).on('error', broken).on('close', broken)
  return body
}

const ignore = () => {}

function stalled(): ServiceError {
  const again = 'upload again; use parts if your connection is slow'
  return new ServiceError('request_timeout', `no bytes of the upload arrived for ${IDLE_MS / 1000} seconds`, {
    hint: again,
    details: {
      layer: 'gateway',
      recovery_hint: again,
      next_best_method: 'POST /v1/lockers/{locker_id}/upload-sessions',
    },
  })
}

function tooLarge(maxBytes: number): ServiceError {
  return new ServiceError('UPLOAD_TOO_LARGE', `an upload may have at most ${maxBytes} bytes`, {
    hint: 'split the content into several files',
    details: {
      layer: 'gateway',
      recovery_hint: 'split the content into several files',
      next_best_method: 'one upload for each file',
      max_bytes: maxBytes,
    },
  })
}
