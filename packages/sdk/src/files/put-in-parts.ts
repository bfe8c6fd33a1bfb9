// Uploads a file in parallel parts. Each part is retried separately, and parts that the gateway already has are
// skipped.

import { finalizeUpload, uploadPart } from '@svc/api/upload-sessions'
import { inParallel } from '@svc/concurrency/parallel'
import { withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { BytesDiffer, NameTaken, UntrueAnswer } from '../errors.ts'
import { type OpenSession, openSession } from './session.ts'
import { inParts, type Source, wrongSize } from './source.ts'
import { requireSame, type StoredFile, type Upload } from './upload.ts'

/** The number of parts in memory, besides the next one while it is being read. */
const PARTS_AT_ONCE = 4

export async function putInParts(context: Context, upload: Upload, source: Source): Promise<StoredFile> {
  const session = await openSession(context, upload, source.size)
  const sent = await sendParts(context, session, upload, source)
  const stored = await finalize(context, session, upload)
  await session.forget()
  requireSame(stored, { filename: upload.filename, ...sent })
  return stored
}

async function sendParts(
  context: Context,
  session: OpenSession,
  { expectedHash, options }: Upload,
  source: Source,
): Promise<{ size_bytes: number; content_hash: string }> {
  const { signal, onProgress, onResume } = options
  const hash = expectedHash === null ? sha256Stream() : null
  let size = 0
  let done = 0
  const kept = Math.min(session.storedParts * session.partBytes, source.size ?? 0)
  if (kept > 0) onResume?.(kept, source.size ?? 0)

  async function* parts() {
    for await (const part of inParts(source.open(), session.partBytes)) {
      signal?.throwIfAborted()
      hash?.update(part)
      size += part.length
      yield part
    }
  }

  await inParallel(parts(), PARTS_AT_ONCE, async (part, index) => {
    if (!session.has(index)) await sendPart(context, session, index, part, signal)
    done += part.length
    onProgress?.(done, source.size)
  })
  if (source.size !== null && size !== source.size) throw wrongSize(source.size)
  return { size_bytes: size, content_hash: expectedHash ?? withPrefix((hash as NonNullable<typeof hash>).hex()) }
}

async function sendPart(
  context: Context,
  { session_id, file_id, token }: OpenSession,
  index: number,
  part: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  await call(context, uploadPart, {
    params: { session_id, file_id },
    query: { index },
    token,
    bytes: part,
    headers: { 'content-type': 'application/octet-stream' },
    signal,
  })
}

async function finalize(
  context: Context,
  { session_id, token, forget }: OpenSession,
  { filename, expectedHash, options }: Upload,
): Promise<StoredFile> {
  const { body } = await call(context, finalizeUpload, { params: { session_id }, token, signal: options.signal })
  const [file] = body.files
  if (file?.ok) return { filename, size_bytes: file.size_bytes, content_hash: file.content_hash }
  // A failed session cannot be resumed.
  await forget()
  if (file?.error === 'HASH_MISMATCH' && expectedHash)
    throw new BytesDiffer(filename, expectedHash, actualHash(file.message))
  if (file?.error === 'PRECONDITION_FAILED') throw new NameTaken(filename)
  throw new UntrueAnswer(
    `the gateway accepted every part of ${JSON.stringify(filename)}, but reports: ${file?.message}`,
  )
}

/** The gateway gives this hash only in the text of its message. */
function actualHash(message: string): string {
  return /sha256:[0-9a-f]{64}/.exec(message)?.[0] ?? 'others'
}
