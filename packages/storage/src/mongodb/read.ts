import { Readable } from 'node:stream'
import type { FindCursor } from 'mongodb'
import { absentIds } from '../absent.ts'
import { requireRange } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import type { Bucket, ChunkDocument } from './bucket.ts'

/** With fewer, there are more requests, which take time; with more, a slow reader holds more memory. */
const CHUNKS_AT_ONCE = 2

interface FoundObject {
  id: string
  write: string
  size: number
  chunkSize: number
}

export async function findObject({ files, ask }: Bucket, id: string): Promise<FoundObject | null> {
  const file = await ask((options) => files.findOne({ _id: id, 'metadata.isWhole': true }, options))
  if (!file) return null
  const found = { id, write: file.metadata?.write, size: Number(file.length), chunkSize: Number(file.chunkSize) }
  if (isSize(found.size) && found.chunkSize > 0 && isSize(found.chunkSize)) return found
  throw new ProviderError('unavailable', 'the provider does not state the size of an object')
}

const isSize = (size: number) => Number.isSafeInteger(size) && size >= 0

export async function readObject(bucket: Bucket, id: string, range: ByteRange | undefined): Promise<Readable | null> {
  const found = await findObject(bucket, id)
  if (!found) return null
  if (range) requireRange(range, found.size)
  return Readable.from(piecesOf(bucket, found, range ?? { start: 0, end: found.size - 1 }), { objectMode: false })
}

async function* piecesOf(bucket: Bucket, found: FoundObject, { start, end }: ByteRange): AsyncGenerator<Buffer> {
  const { chunkSize } = found
  let offset = start - (start % chunkSize)
  for await (const chunk of chunksOf(bucket, found, start, end)) {
    yield chunk.subarray(Math.max(start - offset, 0), end - offset + 1)
    offset += chunkSize
  }
}

/**
 * Whole chunks, through a cursor. The provider closes cursors of slow readers, and they end with their server: another
 * one is opened at the same position.
 */
async function* chunksOf(
  { chunks, ask }: Bucket,
  { id, write, size, chunkSize }: FoundObject,
  start: number,
  end: number,
): AsyncGenerator<Buffer> {
  const last = Math.floor(end / chunkSize)
  let cursor: FindCursor<ChunkDocument> | null = null
  try {
    for (let n = Math.floor(start / chunkSize); n <= last; n++) {
      const chunk = await ask(async (options) => {
        const filter = { files_id: id, n: { $gte: n, $lte: last }, write }
        cursor ??= chunks.find(filter, { ...options, sort: { n: 1 }, batchSize: CHUNKS_AT_ONCE })
        return cursor.next().catch((error) => {
          cursor = null
          throw error
        })
      })
      if (chunk?.n !== n || chunk.data.length !== Math.min(chunkSize, size - n * chunkSize)) {
        throw new ProviderError('unavailable', 'a chunk of the object is missing or has another length')
      }
      yield chunk.data
    }
  } finally {
    closeInBackground(cursor)
  }
}

/** A reader that stops early does not wait for this. */
function closeInBackground(cursor: FindCursor<ChunkDocument> | null): void {
  cursor?.close().catch(() => {})
}

/** A query has about 200 KiB, and its answer fits into one batch. */
export function findAbsent({ files, ask }: Bucket, ids: readonly string[]): Promise<Set<string>> {
  return absentIds(ids, { idsPerQuestion: 5000, questionsAtOnce: 4 }, async (some) => {
    const filter = { _id: { $in: some }, 'metadata.isWhole': true }
    const present = await ask((options) =>
      files.find(filter, { ...options, projection: { _id: 1 }, batchSize: some.length + 1 }).toArray(),
    )
    return present.map(({ _id }) => _id)
  })
}
