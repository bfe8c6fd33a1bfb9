import { Readable } from 'node:stream'
import { absentIds } from '../absent.ts'
import { requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { chunkName, type FoundObject, findObject, type Store } from './store.ts'

/** As many as are written at once. While one is awaited, the next ones are already being fetched. */
const CHUNKS_AT_ONCE = 4

export async function readObject(store: Store, id: string, range: ByteRange | undefined): Promise<Readable | null> {
  const found = await findObject(store, id)
  if (!found) return null
  if (range) requireRange(range, found.size)
  return streamOf(store, found, range ?? { start: 0, end: found.size - 1 })
}

function streamOf(store: Store, found: FoundObject, { start, end }: ByteRange): Readable {
  const { chunkBytes } = found
  const closing = new AbortController()
  const last = Math.floor(end / chunkBytes)
  let next = Math.floor(start / chunkBytes)
  const ahead: Promise<Buffer>[] = []

  function fetchAhead() {
    while (ahead.length < CHUNKS_AT_ONCE && next <= last) {
      const chunk = fetchPart(next++)
      chunk.catch(() => {}) // awaited when it is its turn
      ahead.push(chunk)
    }
  }

  async function fetchPart(n: number): Promise<Buffer> {
    const offset = n * chunkBytes
    const chunk = await fetchChunk(store, found, n, closing.signal)
    return chunk.subarray(Math.max(start - offset, 0), end - offset + 1)
  }

  return new Readable({
    read() {
      fetchAhead()
      const part = ahead.shift()
      if (!part) return void this.push(null)
      part.then(
        (bytes) => this.push(bytes),
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      closing.abort()
      ahead.length = 0
      done(error)
    },
  })
}

async function fetchChunk(store: Store, found: FoundObject, n: number, signal: AbortSignal): Promise<Buffer> {
  const { name, write, size, chunkBytes } = found
  const [document] = await store.fetch([chunkName(name, write, n)], ['data'], signal)
  const data = document?.fields.data?.bytesValue
  if (data?.length !== Math.min(chunkBytes, size - n * chunkBytes)) {
    throw new ProviderError('unavailable', 'a chunk of the object is missing or has another length')
  }
  return data
}

export function findAbsent(store: Store, ids: readonly string[]): Promise<Set<string>> {
  return absentIds(ids, { idsPerQuestion: 500, questionsAtOnce: 4 }, async (some) => {
    const present = await store.fetch(some.map(store.objectName), ['size'])
    return present.map(({ name }) => name.slice(name.lastIndexOf('/') + 1))
  })
}
