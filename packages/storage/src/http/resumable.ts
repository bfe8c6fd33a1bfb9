import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '../provider.ts'
import { type HttpTimeouts, retriesTimeouts, timedOut } from '../timeouts.ts'
import { BUFFERING } from './agent.ts'

/** How often a broken download is resumed. */
const MAX_RESUMPTIONS = 3
/** This much, or all of the rest, must arrive within the idle time: a provider cannot continue byte by byte. */
const PROGRESS_BYTES = 256 * 1024

/**
 * The bytes of a range, from an answer and from those that replace it when it breaks: the object does not change. Reads
 * little ahead of its reader, and holds a connection until its end or until it is destroyed. Returns exactly the range,
 * or fails.
 */
export function resumable(
  first: IncomingMessage,
  { start, end }: ByteRange,
  timeouts: Pick<HttpTimeouts, 'idleMs' | 'giveUpMs'>,
  openAt: (position: number) => Promise<IncomingMessage>,
): Readable {
  let answer = first
  let position = start
  let progress = start
  let resumptions = 0
  let isWaiting = true
  const timer = setTimeout(() => {
    // A reader may take as long as it likes.
    if (!isWaiting) return
    const stalled = timedOut('the provider stopped in the middle of an object')
    if (!retriesTimeouts(timeouts)) return void stream.destroy(stalled)
    timer.refresh()
    answer.destroy(stalled)
  }, timeouts.idleMs)

  const stream = new Readable({
    ...BUFFERING,
    read() {
      if (!isWaiting) timer.refresh()
      isWaiting = true
      answer.resume()
    },
    destroy(error, done) {
      clearTimeout(timer)
      answer.destroy()
      done(error)
    },
  })

  function follow(next: IncomingMessage): void {
    answer = next
    answer.once('error', resume)
    answer.once('end', () => {
      if (position > end) stream.push(null)
      else resume(new Error('the provider ended an object early'))
    })
    answer.on('data', (chunk: Buffer) => {
      position += chunk.length
      if (position > end + 1) return fail(new Error('the provider sends more than the requested range'))
      if (position - progress >= PROGRESS_BYTES) {
        progress = position
        timer.refresh()
      }
      if (stream.push(chunk)) return
      isWaiting = false
      answer.pause()
    })
  }

  function resume(error: unknown): void {
    if (stream.destroyed) return
    if (resumptions++ === MAX_RESUMPTIONS) return void fail(error)
    openAt(position).then(
      (next) => (stream.destroyed ? next.destroy() : follow(next)),
      (failure) => stream.destroy(failure),
    )
  }

  function fail(cause: unknown): void {
    stream.destroy(cause instanceof ProviderError ? cause : new ProviderError('unavailable', cause))
  }

  // Bytes may arrive before anyone reads: an early error is stored for the reader, and must not end the process.
  stream.on('error', () => {})
  follow(first)
  return stream
}
