// Uploads small files that must not replace others, in one session. Each file is stored or refused separately.

import { type FinalizedUpload, finalizeUpload, openUploadSession, uploadPart } from '@svc/api/upload-sessions'
import { inParallel } from '@svc/concurrency/parallel'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { BytesDiffer, isGatewayError, NameTaken, UntrueAnswer } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import type { PutOutcome, ReadFile } from './upload.ts'

interface NewOptions {
  atOnce: number
  signal: AbortSignal | undefined
}

/** A session with a name that already exists is refused entirely, and is then opened again without such names. */
export async function putNew(
  context: Context,
  locker: Locker,
  files: readonly ReadFile[],
  options: NewOptions,
): Promise<PutOutcome[]> {
  if (files.length === 0) return []
  try {
    return await putInSession(context, locker, files, options)
  } catch (error) {
    const isTaken = takenIn(error)
    const taken = files.filter(({ filename }) => isTaken(filename))
    if (taken.length === 0) throw error
    const free = files.filter(({ filename }) => !isTaken(filename))
    const refused = taken.map(({ filename }) => ({ filename, error: new NameTaken(filename) }))
    return [...refused, ...(await putNew(context, locker, free, options))]
  }
}

function takenIn(error: unknown): (filename: string) => boolean {
  const names = isGatewayError(error, 'PRECONDITION_FAILED') ? error.details.filenames : []
  return (filename) => Array.isArray(names) && names.includes(filename)
}

async function putInSession(
  context: Context,
  { locker_id, receipt_id }: Locker,
  files: readonly ReadFile[],
  { atOnce, signal }: NewOptions,
): Promise<PutOutcome[]> {
  const announced = files.map(({ filename, contentType, size_bytes, content_hash }) => {
    return { filename, content_type: contentType, size_bytes, expected_hash: content_hash, overwrite: false }
  })
  const { body: opened } = await call(context, openUploadSession, {
    params: { locker_id },
    body: { receipt_id, files: announced },
    signal,
  })
  const { session_id, upload_token: token, part_max_bytes: partBytes } = opened
  const unsent = new Map<string, unknown>()

  async function sendParts({ bytes }: ReadFile, fileId: string): Promise<void> {
    for (let index = 0; index * partBytes < bytes.length; index++) {
      await call(context, uploadPart, {
        params: { session_id, file_id: fileId },
        query: { index },
        token,
        bytes: bytes.subarray(index * partBytes, (index + 1) * partBytes),
        headers: { 'content-type': 'application/octet-stream' },
        signal,
      })
    }
  }

  await inParallel(files, atOnce, async (file, i) => {
    const fileId = opened.files[i]?.file_id ?? ''
    await sendParts(file, fileId).catch((error: unknown) => unsent.set(file.filename, error))
  })
  const { body } = await call(context, finalizeUpload, { params: { session_id }, token, signal })
  return files.map((file, i) => {
    const { filename } = file
    return unsent.has(filename) ? { filename, error: unsent.get(filename) } : outcomeOf(file, body.files[i])
  })
}

function outcomeOf(file: ReadFile, result: FinalizedUpload['files'][number] | undefined): PutOutcome {
  const { filename, size_bytes, content_hash } = file
  if (result?.ok) {
    const isSame = result.content_hash === content_hash && result.size_bytes === size_bytes
    if (isSame) return { filename, stored: { filename, size_bytes, content_hash } }
    return { filename, error: new BytesDiffer(filename, content_hash, result.content_hash) }
  }
  if (result?.error === 'PRECONDITION_FAILED') return { filename, error: new NameTaken(filename) }
  return { filename, error: new UntrueAnswer(`${JSON.stringify(filename)} was not stored: ${result?.message}`) }
}
