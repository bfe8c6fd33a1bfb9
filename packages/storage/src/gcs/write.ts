// Writes an object: a small one in one request, a large one in chunks of a session. The store keeps the chunks of a
// session apart until the last one has arrived: before that there is no object, and none when the session is cancelled.
//
// Every write puts a random mark on its object, by which a write whose answer was lost recognizes its own object. The
// store compares the bytes with the checksum that comes with the last chunk, and creates no object when they differ.

import { randomUUID } from 'node:crypto'
import { validateHeaderValue } from 'node:http'
import type { Readable } from 'node:stream'
import { startChecksum } from '@svc/s3/checksums'
import { lengthOf } from '../batches.ts'
import type { TextAnswer } from '../http/exchange.ts'
import { idTaken, parseSize, requireSizeAtMost } from '../object-rules.ts'
import { ProviderError } from '../provider.ts'
import { withRetries } from '../timeouts.ts'
import { BLOCK_BYTES, type Blocks, type Chunk, readBlocks } from './blocks.ts'
import { type GcsBucket, parseAnswer } from './bucket.ts'
import { isSessionGone } from './errors.ts'

/** The store accepts this much in one object. */
export const MAX_BYTES = 5 * 1024 ** 4
/** Objects up to this size are sent in one request, and held in memory for it. */
const SMALL_BYTES = 1024 * 1024

interface Write {
  name: string
  contentType: string
  mark: string
}

export async function writeObject(
  bucket: GcsBucket,
  name: string,
  source: Readable,
  { contentType, size }: { contentType: string; size: number | null },
): Promise<number> {
  const blocks = readBlocks(source, size, MAX_BYTES)
  try {
    requireSizeAtMost(MAX_BYTES, size)
    const first = await blocks.next(SMALL_BYTES / BLOCK_BYTES)
    const write = { name, contentType, mark: randomUUID() }
    if (!first.isLast) return await uploadInSession(bucket, write, first, blocks)
    await uploadWhole(bucket, write, first.blocks)
    return lengthOf(first.blocks)
  } finally {
    blocks.release()
  }
}

function metadataOf({ name, contentType, mark }: Write, crc32c?: string): string {
  return JSON.stringify({ name, contentType, crc32c, metadata: { 'svc-write': mark } })
}

/** May be repeated, because it never replaces an object. */
async function uploadWhole(bucket: GcsBucket, write: Write, blocks: readonly Buffer[]): Promise<void> {
  validateHeaderValue('content-type', write.contentType)
  const boundary = randomUUID()
  const checksum = startChecksum('crc32c')
  for (const block of blocks) checksum.update(block)
  const metadata = metadataOf(write, checksum.digest())
  const head =
    `--${boundary}\r\ncontent-type: application/json; charset=UTF-8\r\n\r\n${metadata}\r\n` +
    `--${boundary}\r\ncontent-type: ${write.contentType}\r\n\r\n`
  const body = [Buffer.from(head), ...blocks, Buffer.from(`\r\n--${boundary}--`)]
  const url = bucket.url('upload/storage', null, { uploadType: 'multipart', name: write.name, ifGenerationMatch: '0' })
  const headers = { 'content-type': `multipart/related; boundary=${boundary}` }
  try {
    const { status } = await bucket.ask({ method: 'POST', url, headers, body }, [412])
    if (status === 412 && (await bucket.find(write.name))?.mark !== write.mark) throw idTaken()
  } catch (error) {
    await undo(bucket, write, error)
    throw error
  }
}

/** Removes an object that the store may have created although it reported a failure. Never hides that failure. */
async function undo(bucket: GcsBucket, { name, mark }: Write, failure: unknown): Promise<void> {
  if (!(failure instanceof ProviderError && failure.reason === 'unavailable')) return
  try {
    const found = await bucket.find(name)
    if (found?.mark === mark) await bucket.remove(name, found.generation)
  } catch {}
}

/** A chunk and its position in the object. */
interface PlacedChunk extends Chunk {
  start: number
  end: number
  /** The checksum of the object up to the end of the chunk. */
  crc32c: string
}

async function uploadInSession(bucket: GcsBucket, write: Write, first: Chunk, rest: Blocks): Promise<number> {
  let session = await beginSession(bucket, write)
  try {
    const checksum = startChecksum('crc32c')
    let size = 0
    for (let chunk = first; ; chunk = await rest.next(1)) {
      for (const block of chunk.blocks) checksum.update(block)
      const placed = { ...chunk, start: size, end: size + lengthOf(chunk.blocks), crc32c: checksum.digest() }
      await sendChunk(bucket, session, placed, rest.failure).catch(async (error) => {
        // Only the bytes of this chunk are still available for another session.
        if (placed.start > 0 || !isSessionGone(error)) throw error
        session = await beginSession(bucket, write)
        await sendChunk(bucket, session, placed, rest.failure)
      })
      size = placed.end
      if (chunk.isLast) return size
    }
  } catch (error) {
    await cancelSession(bucket, session)
    await undo(bucket, write, error)
    throw error
  }
}

/** Not aborted when the source fails: a session whose address is unknown could not be cancelled. */
async function beginSession(bucket: GcsBucket, write: Write): Promise<string> {
  const url = bucket.url('upload/storage', null, { uploadType: 'resumable', name: write.name, ifGenerationMatch: '0' })
  const headers = { 'content-type': 'application/json; charset=UTF-8', 'x-upload-content-type': write.contentType }
  const answer = await bucket.ask({ method: 'POST', url, headers, body: Buffer.from(metadataOf(write)) }, [412])
  if (answer.status === 412) throw idTaken()
  const session = URL.parse(answer.headers.location ?? '', url)
  // The bytes must be as safe in transit as this request was.
  if (answer.headers.location && session?.protocol === new URL(url).protocol) return session.href
  throw new ProviderError('unavailable', 'the store did not begin a session')
}

/** Repeats until the store has all of it. After a failure the store is asked how much it has, and gets the rest. */
async function sendChunk(bucket: GcsBucket, session: string, chunk: PlacedChunk, signal: AbortSignal): Promise<void> {
  let known: number | null = chunk.start
  const attempt = async () => {
    let stored = known
    known = null
    for (;;) {
      const now = await sendRest(bucket, session, chunk, stored, signal)
      if (now === 'done') return
      if (now === stored) {
        throw new ProviderError('unavailable', 'the store does not store the bytes that it is sent', {
          isRetryable: true,
        })
      }
      stored = now
    }
  }
  await withRetries(bucket.timeouts, attempt, { signal })
}

/** One request. Returns how much the store then has; when `stored` is null, it only asks for that. */
async function sendRest(
  bucket: GcsBucket,
  session: string,
  { blocks, start, end, isLast, crc32c }: PlacedChunk,
  stored: number | null,
  signal: AbortSignal,
): Promise<number | 'done'> {
  const total = isLast ? `${end}` : '*'
  const isQuestion = stored === null || stored === end
  const headers = {
    'content-range': isQuestion ? `bytes */${total}` : `bytes ${stored}-${end - 1}/${total}`,
    ...(isLast && !isQuestion && { 'x-goog-hash': `crc32c=${crc32c}` }),
  }
  const body = isQuestion ? [] : skip(stored - start, blocks)
  // The address of a session is itself the permission to use it.
  const answer = await bucket.attempt({ method: 'PUT', url: session, headers, body, signal }, [308, 412])
  if (answer.status === 412) throw idTaken()
  const isComplete = answer.status !== 308
  const now = isComplete ? parseAnswer(answer, sizeWith(crc32c)) : storedBytes(answer)
  const isPossible = isComplete ? isLast && now === end : now >= start && now <= end
  if (!isPossible) throw new ProviderError('unavailable', `the store claims ${now} bytes, not ${start} to ${end}`)
  return isComplete || (now === end && !isLast) ? 'done' : now
}

/** The size that the store states, unless its bytes differ: it may have created the object from earlier bytes. */
function sizeWith(expected: string) {
  return ({ size, crc32c }: { size: string; crc32c: string }): number => {
    if (crc32c === expected) return parseSize(size)
    throw new ProviderError('unavailable', `the store has bytes with the CRC32C ${crc32c}, not ${expected}`)
  }
}

function storedBytes({ headers }: TextAnswer): number {
  const last = /^bytes=0-(\d+)$/.exec(headers.range ?? '')?.[1]
  return last === undefined ? 0 : Number(last) + 1
}

function skip(count: number, blocks: readonly Buffer[]): Buffer[] {
  let left = count
  return blocks.flatMap((block) => {
    const skipped = Math.min(left, block.length)
    left -= skipped
    return skipped < block.length ? [block.subarray(skipped)] : []
  })
}

/** The store answers 499. A session that is not cancelled expires after a week. */
async function cancelSession(bucket: GcsBucket, session: string): Promise<void> {
  const request = { method: 'DELETE', url: session, body: [] }
  await withRetries(bucket.timeouts, () => bucket.attempt(request, [404, 410, 499])).catch(() => {})
}
