import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Mishap } from './faults.ts'

/** One request and its answer, with whatever is to go wrong in between. */
export interface Exchange {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  body: Readable
  /** How much of a chunk may be kept at most. */
  keepOfChunk: number
  answer(status: number, value?: object | string, headers?: Record<string, string>): void
  /** As the JSON API tells of an error. */
  refuse(status: number, reason: string, message: string): void
  give(status: number, headers: Record<string, string | number>, bytes: Readable): Promise<void>
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  mishap: Mishap | null,
): Exchange {
  const told = typeof mishap === 'object' ? mishap : null
  const cut = () => {
    request.socket.destroy()
  }

  const body = told && 'cutBodyAt' in told ? request.compose(stopAt(told.cutBodyAt, cut)) : request
  for (const stream of [request, body]) stream.on('error', () => {}) // whoever reads it hears of it too

  function answer(status: number, value?: object | string, headers: Record<string, string> = {}): void {
    if (mishap === 'lost answer') return void cut()
    request.resume() // a client that still sends would not hear the answer
    const isJson = typeof value === 'object'
    const bytes = Buffer.from(isJson ? JSON.stringify(value) : (value ?? ''))
    const type = isJson ? 'application/json; charset=UTF-8' : 'text/plain'
    const about = value === undefined ? {} : { 'content-type': type, 'content-length': bytes.length }
    response.writeHead(status, { ...about, ...headers })
    if (told && 'stallAnswerAt' in told) response.write(bytes.subarray(0, told.stallAnswerAt))
    else response.end(bytes)
  }

  return {
    method: request.method ?? 'GET',
    url,
    headers: request.headers,
    body,
    keepOfChunk: told && 'keepOfChunk' in told ? told.keepOfChunk : Number.POSITIVE_INFINITY,
    answer,
    refuse(status, reason, message) {
      answer(status, { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } })
    },
    async give(status, headers, bytes) {
      response.writeHead(status, headers)
      if (told && 'cutAnswerAt' in told) return pipeline(bytes, stopAt(told.cutAnswerAt, cut), response)
      if (told && 'stallAnswerAt' in told)
        return pipeline(
          bytes,
          stopAt(told.stallAnswerAt, () => {}),
          response,
        )
      await pipeline(bytes, response)
    },
  }
}

/** Lets so many bytes through, then does this, and nothing more. */
function stopAt(limit: number, stop: () => void): Transform {
  let passed = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const rest = limit - passed
      passed += chunk.length
      if (passed < limit) return done(null, chunk)
      this.push(chunk.subarray(0, rest))
      // What was let through is on its way before the end of it.
      setImmediate(stop)
    },
  })
}
