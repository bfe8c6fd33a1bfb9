import { Readable } from 'node:stream'
import { type ByteRange, ProviderError } from '../provider.ts'
import { requireRange } from '../range.ts'
import { type Found, findObject } from './find-object.ts'
import { chunkName, type Store } from './store.ts'

/** As many as are written at once. Those behind the one that is waited for are on their way already. */
const CHUNKS_AT_ONCE = 4

export async function readObject(store: Store, id: string, range: ByteRange | undefined): Promise<Readable | null> {
  const found = await findObject(store, id)
  if (!found) return null
  if (range) requireRange(range, found.size)
  return streamOf(store, found, range ?? { start: 0, end: found.size - 1 })
}

function streamOf(store: Store, found: Found, { start, end }: ByteRange): Readable {
  const { chunkBytes } = found
  const letGo = new AbortController()
  const last = Math.floor(end / chunkBytes)
  let next = Math.floor(start / chunkBytes)
  const ahead: Promise<Buffer>[] = []

  function lookAhead() {
    while (ahead.length < CHUNKS_AT_ONCE && next <= last) {
      const chunk = fetchPart(next++)
      // Told when it is its turn.
      chunk.catch(() => {})
      ahead.push(chunk)
    }
  }

  async function fetchPart(n: number): Promise<Buffer> {
    const offset = n * chunkBytes
    const chunk = await fetchChunk(store, found, n, letGo.signal)
    return chunk.subarray(Math.max(start - offset, 0), end - offset + 1)
  }

  return new Readable({
    read() {
      lookAhead()
      const part = ahead.shift()
      if (!part) return void this.push(null)
      part.then(
        (bytes) => this.push(bytes),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      letGo.abort()
      ahead.length = 0
      done(error)
    },
  })
}

async function fetchChunk(store: Store, found: Found, n: number, signal: AbortSignal): Promise<Buffer> {
  const { name, write, size, chunkBytes } = found
  const [document] = await store.fetch([chunkName(name, write, n)], ['data'], signal)
  const data = document?.fields.data?.bytesValue
  if (data?.length !== Math.min(chunkBytes, size - n * chunkBytes)) {
    throw new ProviderError('unavailable', new Error('a chunk of the object is gone, or not as long as it was'))
  }
  return data
}
