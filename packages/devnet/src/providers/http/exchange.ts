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
  answer(status: number, headers?: Record<string, string | number>, text?: string): void
  give(status: number, headers: Record<string, string | number>, bytes: Readable): Promise<void>
}

export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  mishap: Mishap | null,
): Exchange {
  const told = typeof mishap === 'object' ? mishap : null
  const cut = (through?: Transform) => {
    request.socket.destroy()
    through?.destroy(new Error('cut off as told'))
  }
  return {
    method: request.method ?? 'GET',
    url,
    headers: request.headers,
    body: told && 'cutBodyAt' in told ? request.compose(stopAt(told.cutBodyAt, cut)) : request,
    answer(status, headers = {}, text = '') {
      if (mishap === 'lost answer') return cut()
      request.resume() // a client that still sends would not hear the answer
      response.writeHead(status, { 'content-length': Buffer.byteLength(text), ...headers }).end(text)
    },
    async give(status, headers, bytes) {
      response.writeHead(status, headers)
      const [at, stop] =
        told && 'cutAnswerAt' in told
          ? [told.cutAnswerAt, cut]
          : [told && 'stallAnswerAt' in told ? told.stallAnswerAt : Number.POSITIVE_INFINITY, () => {}]
      await (at === Number.POSITIVE_INFINITY ? pipeline(bytes, response) : pipeline(bytes, stopAt(at, stop), response))
    },
  }
}

/** Lets so many bytes through, then does this, and nothing more. */
function stopAt(limit: number, stop: (self: Transform) => void): Transform {
  let passed = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const rest = limit - passed
      passed += chunk.length
      if (passed < limit) return done(null, chunk)
      this.push(chunk.subarray(0, rest))
      // What was let through is on its way before the end of it.
      setImmediate(stop, this)
    },
  })
}
