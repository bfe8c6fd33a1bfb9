import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '../provider.ts'
import { type Patience, TooSlow } from '../timeouts.ts'
import { BUFFERING } from './socket.ts'

/** How often a download that breaks off is taken up again where it was. */
const MAX_RESUMPTIONS = 3
/** So much, or all that is left, has to come within the time in which a store may be silent: it cannot go on by drips. */
const STRIDE_BYTES = 256 * 1024

/**
 * The bytes of a range from an answer, and from those that take its place when it breaks off: what they are part of does
 * not change. Reads little ahead of its reader, and holds a connection until its end or until it is destroyed. Gives
 * neither more nor less than the range.
 */
export function resumable(
  first: IncomingMessage,
  { start, end }: ByteRange,
  { idleMs }: Pick<Patience, 'idleMs'>,
  openAt: (position: number) => Promise<IncomingMessage>,
): Readable {
  let answer = first
  let position = start
  let stride = start
  let resumptions = 0
  let isWaiting = true
  const timer = setTimeout(() => {
    // A reader may take as long as it likes.
    if (isWaiting) stream.destroy(trouble(new TooSlow('the store stopped in the middle of an object')))
  }, idleMs)

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
    answer.once('error', breakOff)
    answer.once('end', () => {
      if (position > end) stream.push(null)
      else breakOff(new Error('the store ended before the end of an object'))
    })
    answer.on('data', (chunk: Buffer) => {
      position += chunk.length
      if (position > end + 1)
        return void stream.destroy(trouble(new Error('the store gives more than it was asked for')))
      if (position - stride >= STRIDE_BYTES) {
        stride = position
        timer.refresh()
      }
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

  // Bytes come before anybody reads them: trouble that comes first is told to whoever reads, and ends nothing else.
  stream.on('error', () => {})
  follow(first)
  return stream
}

function trouble(cause: unknown): ProviderError {
  return new ProviderError('unavailable', cause)
}
