// The front that clients connect to: forwards calls to the emulator and makes them fail on demand. A gRPC call is an
// HTTP/2 stream with the method in its path and the status in its trailers.

import {
  type ClientHttp2Session,
  constants,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { Transform } from 'node:stream'
import type { Fault } from './faults.ts'

const WINDOW = 4 * 1024 * 1024
const SETTINGS = { settings: { initialWindowSize: WINDOW } }

export interface Front {
  server: Http2Server
  /** Ends all connections. */
  cut(): void
}

export function createFront(emulator: ClientHttp2Session, takeFault: (method: string) => Fault | null): Front {
  const server = createServer(SETTINGS)
  const sessions = new Set<{ destroy(): void }>()
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    session.on('error', () => {})
    session.on('connect', () => session.setLocalWindowSize(WINDOW))
  })
  server.on('stream', (call, headers) => {
    call.on('error', () => {})
    serve(emulator, call, headers, takeFault(`${headers[':path']}`.replace(/.*\//, '')))
  })
  return {
    server,
    cut() {
      for (const session of sessions) session.destroy()
    },
  }
}

function serve(
  emulator: ClientHttp2Session,
  call: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  fault: Fault | null,
) {
  const cut = () => call.session?.destroy()
  if (fault === 'cut') return cut()
  if (fault === 'silence') return void call.resume()
  if (isA(fault, 'status')) {
    call.resume()
    const { status, message = 'planned by the test' } = fault
    const trailers = { 'grpc-status': status, 'grpc-message': encodeURIComponent(message) }
    return call.respond({ ':status': 200, 'content-type': 'application/grpc', ...trailers }, { endStream: true })
  }
  const forwarded = emulator.request(headers)
  forwarded.on('error', () => call.close(constants.NGHTTP2_INTERNAL_ERROR))
  call.on('aborted', () => forwarded.close(constants.NGHTTP2_CANCEL))
  const limitOf = (length: number | false) => (length === false ? Number.POSITIVE_INFINITY : length)
  call.pipe(upTo(limitOf(isA(fault, 'cutRequestAt') && fault.cutRequestAt), cut)).pipe(forwarded)
  forwarded.once('response', (answer, flags) => {
    if (fault === 'lost answer') return cut()
    if (call.destroyed) return
    if (flags & constants.NGHTTP2_FLAG_END_STREAM) return call.respond(answer, { endStream: true })
    call.respond(answer, { waitForTrailers: true })
    let trailers: IncomingHttpHeaders = {}
    forwarded.on('trailers', (last) => {
      trailers = last
    })
    call.on('wantTrailers', () => call.sendTrailers(trailers))
    const stall = () => {}
    if (isA(fault, 'stallAnswerAt')) forwarded.pipe(upTo(fault.stallAnswerAt, stall)).pipe(call)
    else forwarded.pipe(upTo(limitOf(isA(fault, 'cutAnswerAt') && fault.cutAnswerAt), cut)).pipe(call)
  })
}

/** Passes `limit` bytes, then calls `end`. */
function upTo(limit: number, end: () => void): Transform {
  let left = limit
  return new Transform({
    transform(piece: Buffer, _, done) {
      const part = piece.subarray(0, left)
      left -= part.length
      if (left > 0) return done(null, part)
      this.push(part)
      end()
    },
  })
}

function isA<K extends string>(fault: Fault | null, key: K): fault is Extract<Fault, Record<K, number>> {
  return typeof fault === 'object' && fault !== null && key in fault
}
