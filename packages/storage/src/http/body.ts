import type { ClientRequest, IncomingMessage } from 'node:http'
import { lengthOf } from '../batches.ts'
import type { HttpTimeouts } from '../timeouts.ts'
import { BUFFERING } from './agent.ts'

/** A body that is produced while it is sent, and can be sent only once. */
export interface StreamedBody {
  length: number
  /** Whether some of it has been read. */
  hasBegun(): boolean
  pieces(): AsyncIterable<Buffer[]>
}

/** Bytes in memory can be sent again. */
type BufferedBody = Buffer | readonly Buffer[]

export type Body = BufferedBody | StreamedBody | null

/** Ends a request that waits too long. */
export interface RequestTimer {
  start(ms: number): void
  stop(): void
}

export function isHeld(body: NonNullable<Body>): body is BufferedBody {
  return Buffer.isBuffer(body) || Array.isArray(body)
}

export function isRepeatable(body: Body): boolean {
  return body === null || isHeld(body) || !body.hasBegun()
}

function bodyLength(body: NonNullable<Body>): number {
  return Array.isArray(body) ? lengthOf(body) : body.length
}

/** A streamed body waits for `100 Continue`: before that, a rejection or a closed connection costs nothing. */
export function bodyHeaders(body: Body): Record<string, string> {
  if (body === null) return {}
  return { 'content-length': `${bodyLength(body)}`, ...(!isHeld(body) && { expect: '100-continue' }) }
}

/** Sends the body, or as much of it as is sent when the answer arrives. */
export async function sendBody(
  outgoing: ClientRequest,
  body: NonNullable<Body>,
  answer: Promise<IncomingMessage>,
  timer: RequestTimer,
  { continueMs, idleMs }: HttpTimeouts,
): Promise<void> {
  const answered = answer.then(() => 'answered' as const)
  if (!isHeld(body) && (await mayContinue(outgoing, answered, continueMs)) === 'answered') return
  const pieces = isHeld(body) ? slices([body].flat()) : body.pieces()[Symbol.asyncIterator]()
  let sent = 0
  for (;;) {
    const next = await Promise.race([pieces.next(), answered])
    if (next === 'answered' || next.done) break
    outgoing.cork()
    for (const piece of next.value) {
      outgoing.write(piece)
      sent += piece.length
    }
    outgoing.uncork()
    if (!outgoing.writableNeedDrain) continue
    timer.start(idleMs)
    await Promise.race([new Promise((resolve) => outgoing.once('drain', resolve)), answered])
    timer.stop()
  }
  // An answer that arrives after the last byte was sent is not early.
  if (sent === bodyLength(body)) outgoing.end()
}

async function mayContinue(outgoing: ClientRequest, answered: Promise<'answered'>, continueMs: number) {
  const continued = Promise.withResolvers<void>()
  const timer = setTimeout(continued.resolve, continueMs)
  outgoing.once('continue', continued.resolve)
  try {
    return await Promise.race([continued.promise, answered])
  } finally {
    clearTimeout(timer)
  }
}

async function* slices(buffers: readonly Buffer[]): AsyncGenerator<Buffer[]> {
  const { highWaterMark } = BUFFERING
  for (const buffer of buffers) {
    for (let start = 0; start < buffer.length; start += highWaterMark) {
      yield [buffer.subarray(start, start + highWaterMark)]
    }
  }
}
