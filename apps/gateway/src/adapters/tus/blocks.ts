// An upload is stored in blocks of equal length, so that a provider can place them directly in the file's object and
// nothing is copied at the end. Bytes that do not fill a block are objects of their own, the tail. Interrupted requests
// and small chunks add to the tail until it fills a block.

import { Readable } from 'node:stream'
import { bare } from '@svc/protocol/bytes'
import type { Context } from '../../context.ts'
import { hashStream } from '../../files/hash-stream.ts'
import { writeObject } from '../../files/objects.ts'
import { streamOf } from '../../files/parts/copy-parts.ts'
import { fileKey, writeInPlace } from '../../files/parts/open-parts.ts'
import { startChecksum } from '../../files/parts/part-digest.ts'
import { findPartsBetween, type Part } from '../../files/parts/part-store.ts'
import { maxFileBytes, type WrittenPart } from '../../files/parts/record-parts.ts'
import { findSessionFile } from '../../files/parts/store.ts'
import type { Upload } from './upload.ts'

/** The largest block. A block stays in memory while it arrives. */
export const MAX_BLOCK_BYTES = 8 * 1024 * 1024
/** A tail of this many parts is merged: an upload in tiny chunks then has few parts, and each byte is copied rarely. */
export const MAX_TAIL_PARTS = 64

/** The progress of an upload: complete blocks, and the parts received of the next one. */
export interface Progress {
  offset: number
  blocks: number
  tail: Part[]
}

export async function readProgress({ database }: Context, { file, tus }: Upload): Promise<Progress> {
  const offset = file.received_bytes
  const blocks = Math.floor(offset / tus.block_bytes)
  const isAtBlockEnd = offset === blocks * tus.block_bytes
  return { offset, blocks, tail: isAtBlockEnd ? [] : await findPartsBetween(database.db, file, blocks, file.top_index) }
}

export function tailBytes({ tail }: Progress): number {
  return tail.reduce((sum, { size_bytes }) => sum + size_bytes, 0)
}

/** The full length of the block that is being filled; the last block ends with the file. */
export function blockLength({ file, tus }: Upload, { blocks }: Progress): number {
  const { size_bytes } = file
  return size_bytes === null ? tus.block_bytes : Math.min(tus.block_bytes, size_bytes - blocks * tus.block_bytes)
}

/** Writes the bytes after the tail as an object of their own, with their SHA-256 if they are the whole file. */
export async function writeTail(
  context: Context,
  { session, file, tus }: Upload,
  { blocks, tail }: Progress,
  fresh: AsyncIterable<Buffer>,
  size: number | null,
): Promise<WrittenPart> {
  const isFile = tus.kind === 'whole' && size === file.size_bytes
  const { bytes, digest, close } = isFile && size !== null ? withSha256(context, fresh, size) : withChecksum(fresh)
  try {
    const object = await writeObject(context, session.provider, bytes, { contentType: file.content_type, size })
    return { index: blocks + tail.length, object, ref: null, digest: await digest() }
  } finally {
    close()
  }
}

function withSha256({ hashThread }: Context, source: AsyncIterable<Buffer>, size: number) {
  const { bytes, hash, close } = hashStream(hashThread, source, size)
  return { bytes, digest: async () => bare(await hash()), close }
}

function withChecksum(source: AsyncIterable<Buffer>) {
  const checksum = startChecksum()
  async function* pass(): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      checksum.update(chunk)
      yield chunk
    }
  }
  return { bytes: Readable.from(pass(), { objectMode: false }), digest: async () => checksum.digest(), close() {} }
}

/** Writes the tail and the bytes after it as one part: a complete block in place, or an object of its own. */
export async function joinTail(
  context: Context,
  upload: Upload,
  progress: Progress,
  fresh: readonly Buffer[],
): Promise<WrittenPart> {
  const { session } = upload
  const index = progress.blocks
  const size = tailBytes(progress) + fresh.reduce((sum, { length }) => sum + length, 0)
  const provider = context.providers.named(session.provider)
  async function* bytes(): AsyncGenerator<Buffer> {
    if (progress.tail.length > 0) yield* streamOf(provider, progress.tail) as AsyncIterable<Buffer>
    yield* fresh
  }
  const inPlace =
    size === blockLength(upload, progress) ? await writeBlock(context, upload, { index, size }, bytes()) : null
  return inPlace ?? writeTail(context, upload, { ...progress, tail: [] }, bytes(), size)
}

/** Null, with nothing read, when the block must be an object of its own. */
async function writeBlock(
  context: Context,
  { session, file: { session_id, file_id }, tus }: Upload,
  { index, size }: { index: number; size: number },
  source: AsyncIterable<Buffer>,
): Promise<WrittenPart | null> {
  // Partial uploads are only copied from, and a file of one block is that block's object.
  if (tus.kind !== 'whole') return null
  const file = await findSessionFile(context.database.db, session_id, file_id)
  if (!file || file.size_bytes === size || !(await context.openParts(session, file, { index, size }))) return null
  const hasSha256 = await context.mayBeReadByOlderRelease()
  const passing = context.partHashes.along({ file: fileKey(file), index, hasSha256 }, source, () => {})
  try {
    const maxBytes = maxFileBytes(context, session.provider, file)
    const isLast = index * tus.block_bytes + size === file.size_bytes
    const inPlace = await writeInPlace(context, session, file, { index, size, isLast, maxBytes }, passing.bytes)
    const about = { contentType: file.content_type, size }
    const written = inPlace ?? {
      object: await writeObject(context, session.provider, passing.bytes, about),
      ref: null,
    }
    await passing.stored()
    return { index, ...written, digest: passing.digest() }
  } finally {
    passing.close()
  }
}
