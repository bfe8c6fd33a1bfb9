import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Patience } from '../timeouts.ts'
import { BUFFERING, type Timer } from './socket.ts'

/** A body that can be sent once only, as it comes. */
export interface Outflow {
  length: number
  /** Whether some of it has been asked for. */
  hasBegun(): boolean
  pieces(): AsyncIterable<Buffer[]>
}

export type Body = Buffer | Outflow | null

/** All of it, or what is sent until the answer comes. */
export async function sendBody(
  outgoing: ClientRequest,
  body: Buffer | Outflow,
  answer: Promise<IncomingMessage>,
  timer: Timer,
  { continueMs, idleMs }: Patience,
): Promise<void> {
  const answered = answer.then(() => 'answered' as const)
  if (!Buffer.isBuffer(body) && (await mayGoOn(outgoing, answered, continueMs)) === 'answered') return
  const pieces = Buffer.isBuffer(body) ? slices(body) : body.pieces()[Symbol.asyncIterator]()
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
    timer.allow(idleMs)
    await Promise.race([new Promise((resolve) => outgoing.once('drain', resolve)), answered])
    timer.stop()
  }
  // The answer may come as soon as the last byte is on its way, and that is not before its time.
  if (sent === body.length) outgoing.end()
}

async function mayGoOn(outgoing: ClientRequest, answered: Promise<'answered'>, continueMs: number) {
  const told = Promise.withResolvers<void>()
  const timer = setTimeout(told.resolve, continueMs)
  outgoing.once('continue', told.resolve)
  try {
    return await Promise.race([told.promise, answered])
  } finally {
    clearTimeout(timer)
  }
}

async function* slices(body: Buffer): AsyncGenerator<Buffer[]> {
  const { highWaterMark } = BUFFERING
  for (let start = 0; start < body.length; start += highWaterMark) yield [body.subarray(start, start + highWaterMark)]
}
