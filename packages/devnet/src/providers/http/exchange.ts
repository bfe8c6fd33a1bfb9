// One request to a provider server and its answer, with the faults of the connection.

import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type Readable, Transform, type TransformCallback } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Exchange {
  method: string
  url: URL
  headers: IncomingHttpHeaders
  body: Readable
  answer(status: number, headers?: Record<string, string | number>, text?: string): void
  answerStream(status: number, headers: Record<string, string | number>, bytes: Readable): Promise<void>
}

/** Thrown to refuse a request. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string) {
    super(code)
    this.status = status
    this.code = code
  }
}

/** Applies the faults of the connection; the caller handles all others. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  fault: object | string | null,
): Exchange {
  const cut = (through?: Transform) => {
    request.socket.destroy()
    through?.destroy(new Error('the test cut the connection'))
  }
  const [cutBodyAt, flipBodyAt, cutAnswerAt, stallAnswerAt] = [
    'cutBodyAt',
    'flipBodyAt',
    'cutAnswerAt',
    'stallAnswerAt',
  ].map((name) => limitIn(fault, name))
  const change = cutBodyAt !== undefined ? stopAt(cutBodyAt, cut) : flipBodyAt !== undefined ? flipAt(flipBodyAt) : null
  const body = change ? request.compose(change) : request
  // Readers of the body get the error too.
  for (const stream of [request, body]) stream.on('error', () => {})
  return {
    method: request.method ?? 'GET',
    url,
    headers: request.headers,
    body,
    answer(status, headers = {}, text = '') {
      if (fault === 'lost answer') return cut()
      request.resume() // a client that is still sending would not see the answer
      const bytes = Buffer.from(text)
      response.writeHead(status, { 'content-length': bytes.length, ...headers })
      if (stallAnswerAt !== undefined && bytes.length > 0) response.write(bytes.subarray(0, stallAnswerAt))
      else response.end(bytes)
    },
    async answerStream(status, headers, bytes) {
      response.writeHead(status, headers)
      if (cutAnswerAt !== undefined) return pipeline(bytes, stopAt(cutAnswerAt, cut), response)
      const stall = () => {}
      if (stallAnswerAt !== undefined) return pipeline(bytes, stopAt(stallAnswerAt, stall), response)
      return pipeline(bytes, response)
    },
  }
}

function limitIn(fault: object | string | null, name: string): number | undefined {
  return typeof fault === 'object' ? (fault as Record<string, number> | null)?.[name] : undefined
}

/** Passes `limit` bytes, calls `stop`, and passes nothing more. */
function stopAt(limit: number, stop: (self: Transform) => void): Transform {
  let passed = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const rest = limit - passed
      passed += chunk.length
      if (passed < limit) return done(null, chunk)
      this.push(chunk.subarray(0, rest))
      // Let the bytes leave before the connection ends.
      setImmediate(stop, this)
    },
  })
}

function flipAt(place: number): Transform {
  let passed = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      const at = place - passed
      passed += chunk.length
      if (at >= 0 && at < chunk.length) chunk[at]! ^= 1
      done(null, chunk)
    },
  })
}

export interface ReceivedFile {
  path: string
  size: number
  etag: string
}

/** Writes the body of a request to a file. Leaves no file when the body breaks off or differs from the signed hash. */
export async function receiveFile({ body, headers }: Exchange, path: string): Promise<ReceivedFile> {
  const declared = headers['x-amz-content-sha256']?.toString() ?? ''
  if (headers['content-length'] === undefined) throw new Refusal(411, 'MissingContentLength')
  const hash = /^[0-9a-f]{64}$/.test(declared) ? createHash('sha256') : null
  const file = createWriteStream(path, { flags: 'wx' })
  try {
    if (hash) body.on('data', (chunk) => hash.update(chunk))
    await pipeline(body, file)
    if (hash && hash.digest('hex') !== declared) throw new Refusal(400, 'XAmzContentSHA256Mismatch')
    return { path, size: file.bytesWritten, etag: randomUUID() }
  } catch (error) {
    await rm(path, { force: true })
    throw error
  }
}
