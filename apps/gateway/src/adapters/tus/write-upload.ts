// PATCH: the next bytes of an upload. They are written and recorded block by block, even if the connection breaks. With
// a checksum, either all of them are recorded or none.

import { Readable } from 'node:stream'
import type { ErrorCode } from '@svc/api/errors'
import { bodyStream } from '@svc/service/http/body-stream'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../context.ts'
import { maxObjectBytes, removeObject } from '../../files/objects.ts'
import { LostPartError } from '../../files/parts/copy-parts.ts'
import { dropPart } from '../../files/parts/open-parts.ts'
import type { Part } from '../../files/parts/part-store.ts'
import { maxFileBytes, recordParts, type WrittenPart } from '../../files/parts/record-parts.ts'
import { requireQuotaForPart } from '../../files/parts/store-part.ts'
import { grantOf } from '../../lockers/access.ts'
import { blockLength, joinTail, MAX_TAIL_PARTS, type Progress, readProgress, tailBytes, writeTail } from './blocks.ts'
import { type BodyPieces, piecesOf } from './body-pieces.ts'
import { type Checksum, readChecksum } from './checksums.ts'
import { checksumMismatch, interrupted, offsetMismatch, tooLong, uploadGone } from './errors.ts'
import { headerOf } from './headers.ts'
import type { Upload } from './upload.ts'

interface Writing {
  upload: Upload
  pieces: BodyPieces
  progress: Progress
  /** Written parts that are not recorded yet, starting at offset `from`. */
  parts: WrittenPart[]
  from: number
}

/** Returns the new offset. Aborting the signal ends the body at its current position. */
export async function appendBody(
  context: Context,
  upload: Upload,
  wire: WireRequest,
  signal: AbortSignal,
): Promise<number> {
  const checksum = readChecksum(headerOf(wire, 'Upload-Checksum'))
  const left = await requireSpace(context, upload, wire)
  const progress = await readProgress(context, upload)
  const { block_bytes } = upload.tus
  const isLong = Number(wire.headers['content-length'] ?? 0) > block_bytes
  const release = isLong ? context.acquireSpareBuffer() : null
  const body = bodyStream(wire, left, release ? block_bytes : undefined)
  const stop = () => void body.destroy(interrupted())
  signal.addEventListener('abort', stop)
  const pieces = piecesOf(body, (chunk) => checksum?.update(chunk))
  const writing: Writing = { upload, pieces, progress, parts: [], from: progress.offset }
  try {
    while (await writePiece(context, writing)) {
      if (!checksum) await record(context, writing)
    }
    requireCompleteBody(pieces, checksum)
    await record(context, writing)
  } catch (error) {
    await dropParts(context, writing)
    if (!(error instanceof LostPartError)) throw error
    const { session_id } = upload.session
    context.log.error({ session_id, err: error }, 'a part of a tus upload is lost')
    throw uploadGone()
  } finally {
    signal.removeEventListener('abort', stop)
    body.destroy()
    release?.()
  }
  return writing.progress.offset
}

/** The number of bytes that the upload can still receive. */
async function requireSpace(context: Context, { session, file }: Upload, wire: WireRequest): Promise<number> {
  const max = file.size_bytes ?? maxObjectBytes(context, session.provider)
  const left = max - file.received_bytes
  const arriving = Number(wire.headers['content-length'] ?? 0)
  if (arriving > left) throw tooLong(max)
  await requireQuotaForPart(context, session, file, arriving)
  return left
}

/** Writes the body to the current block until either ends. False when no bytes arrived. */
async function writePiece(context: Context, writing: Writing): Promise<boolean> {
  const { upload, pieces, progress } = writing
  const wanted = blockLength(upload, progress) - tailBytes(progress)
  // At the end of the upload this still asks for one more byte, which the limit of the body rejects.
  const release = context.acquireBuffer()
  if (!release) return streamPiece(context, writing, wanted)
  try {
    const fresh: Buffer[] = []
    for await (const chunk of pieces.upTo(Math.max(wanted, 1))) fresh.push(chunk)
    const bytes = fresh.reduce((sum, { length }) => sum + length, 0)
    if (bytes === 0) return false
    const isJoined = bytes === wanted || progress.tail.length + 1 >= MAX_TAIL_PARTS
    const part = isJoined
      ? await joinTail(context, upload, progress, fresh)
      : await writeTail(context, upload, progress, Readable.from(fresh), bytes)
    advance(writing, part, bytes)
    return true
  } finally {
    release()
  }
}

/** Providers that need the length of an object buffer one of unknown length, up to this size. */
const STREAMED_BYTES = 1024 * 1024

/** Like `writePiece`, without memory for a block. */
async function streamPiece(context: Context, writing: Writing, wanted: number): Promise<boolean> {
  const { upload, pieces, progress } = writing
  const most = Math.min(Math.max(wanted, 1), STREAMED_BYTES)
  const part = await writeTail(context, upload, progress, pieces.upTo(most), null)
  const bytes = part.object.size
  if (bytes === 0) {
    await removeObject(context, upload.session.provider, part.object.id, part.object.ref)
    return false
  }
  const isFull = bytes === wanted
  advance(writing, part, bytes, false)
  const { tail } = progress
  if (isFull || tail.length >= MAX_TAIL_PARTS) advance(writing, await joinTail(context, upload, progress, []), 0)
  return true
}

/** Adds a part, which replaces the parts from its index on. */
function advance({ upload, progress, parts }: Writing, part: WrittenPart, bytes: number, mayEnd = true): void {
  const { index, object, ref, digest } = part
  parts.push(part)
  progress.offset += bytes
  const row: Part = {
    session_id: upload.file.session_id,
    file_id: upload.file.file_id,
    part_index: index,
    object_id: object.id,
    provider_ref: object.ref,
    size_bytes: object.size,
    sha256: digest,
    checksum: null,
    part_ref: ref,
    part_start: null,
    received_at: null,
  }
  progress.tail = [...progress.tail.slice(0, index - progress.blocks), row]
  if (mayEnd && object.size === upload.tus.block_bytes) {
    progress.blocks += 1
    progress.tail = []
  }
}

async function record(context: Context, writing: Writing): Promise<void> {
  const { upload, progress, parts, from } = writing
  if (parts.length === 0) return
  // After an unexpected error the parts may be recorded: the sweep decides then.
  writing.parts = []
  try {
    await recordAt(context, upload, from, parts)
  } catch (error) {
    if (error instanceof ServiceError) writing.parts = parts
    throw error
  }
  writing.from = progress.offset
}

/** Moves the offset by the written parts. */
export async function recordAt(
  context: Context,
  { session, file, tus }: Upload,
  offset: number,
  parts: readonly WrittenPart[],
): Promise<void> {
  const recorded = await recordParts(context, {
    sessionId: session.session_id,
    fileId: file.file_id,
    grant: grantOf(session),
    parts,
    maxBytes: maxFileBytes(context, session.provider, file),
    offset,
    isStored: tus.kind === 'whole',
  })
  if ('movedTo' in recorded) throw offsetMismatch(recorded.movedTo)
  if ('refusal' in recorded) throw GONE.includes(recorded.refusal.code) ? uploadGone() : recorded.refusal
  // Only one request writes to an upload, so nothing reads these parts any more.
  const { provider } = session
  const removed = recorded.replaced.filter(({ part_ref }) => part_ref === null)
  await Promise.all(
    removed.map(({ object_id, provider_ref }) => removeObject(context, provider, object_id, provider_ref)),
  )
}

const GONE: ErrorCode[] = ['SESSION_CLOSED', 'UPLOAD_TOKEN_INVALID', 'FILE_NOT_FOUND']

/** A body with a checksum must be complete. Of any other body, the bytes that arrived are stored. */
function requireCompleteBody(pieces: BodyPieces, checksum: Checksum | null): void {
  const problem = pieces.problem()
  if (problem !== null) throw problem
  if (checksum && checksum.digest() !== checksum.expected) {
    throw checksumMismatch('the bytes do not match Upload-Checksum', 'send the chunk again; the offset has not changed')
  }
}

/** Removes the parts that are not recorded. */
async function dropParts(context: Context, { upload, parts }: Writing): Promise<void> {
  for (const part of parts) await dropPart(context, upload.session, part)
}
