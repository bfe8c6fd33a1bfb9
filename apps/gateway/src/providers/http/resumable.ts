import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { ProviderError } from '../provider.ts'
import { type Patience, TooSlow } from './patience.ts'
import { BUFFERING } from './socket.ts'

/** How often a download that breaks off is taken up again where it was. */
const MAX_RESUMPTIONS = 3

/**
 * The bytes of an answer, and of those that take its place when it breaks off: what they are part of does not change.
 * Reads little ahead of its reader, and holds a connection until its end or until it is destroyed.
 */
export function resumable(
  first: IncomingMessage,
  start: number,
  { idleMs }: Patience,
  openAt: (position: number) => Promise<IncomingMessage>,
): Readable {
  let answer = first
  let position = start
  let resumptions = 0
  let isWaiting = true
  const timer = setTimeout(() => {
    // A reader may take as long as it likes.
    if (isWaiting) stream.destroy(trouble(new TooSlow('the store stopped in the middle of an object')))
  }, idleMs)

  const stream = new Readable({
    ...BUFFERING,
    read() {
      isWaiting = true
      timer.refresh()
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
    answer.once('error', breakOff)
    answer.once('end', () => stream.push(null))
    answer.on('data', (chunk: Buffer) => {
      position += chunk.length
      timer.refresh()
      if (stream.push(chunk)) return
      isWaiting = false
      answer.pause()
    })
  }

  function breakOff(error: unknown): void {
    if (stream.destroyed) return
    if (resumptions++ === MAX_RESUMPTIONS) return void stream.destroy(trouble(error))
    openAt(position).then(
      (next) => (stream.destroyed ? next.destroy() : follow(next)),
      (failure) => stream.destroy(failure),
    )
  }

  follow(first)
  return stream
}

function trouble(cause: unknown): ProviderError {
  return new ProviderError('unavailable', cause)
}
