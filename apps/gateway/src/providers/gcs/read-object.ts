import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { GcsStore } from './store.ts'

const BUFFER_BYTES = 256 * 1024

export async function readObject(store: GcsStore, name: string, range?: ByteRange): Promise<Readable | null> {
  if (range && !(range.start >= 0 && range.start <= range.end)) throw outside()
  const answer = await store.open(name, {}, headersFor(range))
  if (!answer) return null
  if (range && !isLong(answer, range)) {
    answer.destroy()
    throw outside()
  }
  const start = range?.start ?? 0
  return streamOf(store, name, answer, { start, end: start + Number(answer.headers['content-length']) - 1 })
}

function outside(): RangeError {
  return new RangeError('the range is not within the object')
}

function isLong({ headers }: IncomingMessage, { start, end }: ByteRange): boolean {
  return Number(headers['content-length']) === end - start + 1
}

/** That we take gzip keeps the store from unpacking what somebody put there packed: the bytes are given as they are. */
function headersFor(range: ByteRange | undefined) {
  return { 'accept-encoding': 'gzip', ...(range && { range: `bytes=${range.start}-${range.end}` }) }
}

/** Where the connection breaks, it goes on in another one from there, in the same generation of the object. */
function streamOf(store: GcsStore, name: string, first: IncomingMessage, { start, end }: ByteRange): Readable {
  const generation = `${first.headers['x-goog-generation']}`
  let answer = first
  let position = start
  let breaks = 0

  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      answer.resume()
    },
    destroy(error, done) {
      answer.destroy()
      done(error)
    },
  })

  function follow(next: IncomingMessage) {
    answer = next
    answer.on('data', (chunk: Buffer) => {
      position += chunk.length
      if (!stream.push(chunk)) next.pause()
    })
    answer.on('end', () => stream.push(null))
    answer.on('error', (error) => {
      if (!stream.destroyed) goOn(error).catch((trouble) => stream.destroy(trouble))
    })
  }

  async function goOn(reason: Error): Promise<void> {
    if (++breaks >= store.patience.attempts) throw new ProviderError('unavailable', reason)
    const rest = { start: position, end }
    const next = await store.open(name, { ifGenerationMatch: generation }, headersFor(rest))
    if (next && isLong(next, rest) && !stream.destroyed) return follow(next)
    next?.destroy()
    throw new ProviderError('unavailable', new Error('the rest of the object was not to be had', { cause: reason }))
  }

  follow(answer)
  return stream
}
