import { confirmFiles } from '@svc/api/confirm-files'
import { createFiles } from '@svc/api/files'
import { withPrefix } from '@svc/protocol/bytes'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { BytesDiffer, UntrueAnswer } from '../errors.ts'
import type { Locker } from '../lockers/locker.ts'
import { sha256Hex } from '../sha256.ts'
import { requireName } from './filename.ts'
import { inParallel } from './in-parallel.ts'
import type { NamedSource, PutOutcome } from './put-outcome.ts'
import { readWhole } from './source.ts'
import type { StoredFile } from './upload.ts'
import { type UploadTarget, writeBytes } from './write-bytes.ts'

interface ReadFile extends StoredFile {
  contentType: string
  bytes: Uint8Array
}

interface TogetherOptions {
  atOnce: number
  signal: AbortSignal | undefined
}

/** Small files: named in one call, uploaded side by side, confirmed in one call. */
export async function putTogether(
  context: Context,
  locker: Locker,
  batch: readonly NamedSource[],
  options: TogetherOptions,
): Promise<PutOutcome[]> {
  const outcomes = new Map<string, PutOutcome>()
  const failed = (filename: string) => (error: unknown) => void outcomes.set(filename, { filename, error })
  const files: ReadFile[] = []
  for (const one of batch) await readFile(one).then((file) => files.push(file), failed(one.filename))
  try {
    const targets = await nameFiles(context, locker, files, options)
    await inParallel(files, options.atOnce, async ({ filename, bytes }, i) => {
      await writeBytes(context, targets[i] as UploadTarget, bytes, options.signal).catch(failed(filename))
    })
    const written = files.filter(({ filename }) => !outcomes.has(filename))
    for (const outcome of await confirm(context, locker, written, options)) outcomes.set(outcome.filename, outcome)
  } catch (error) {
    options.signal?.throwIfAborted()
    for (const { filename } of files) if (!outcomes.has(filename)) failed(filename)(error)
  }
  return [...outcomes.values()]
}

async function readFile({
  filename,
  source,
  contentType = 'application/octet-stream',
}: NamedSource): Promise<ReadFile> {
  requireName(filename)
  const bytes = await readWhole(source)
  return { filename, contentType, bytes, size_bytes: bytes.length, content_hash: withPrefix(await sha256Hex(bytes)) }
}

/** Where each is to be uploaded, in their order. */
async function nameFiles(
  context: Context,
  { locker_id }: Locker,
  files: readonly ReadFile[],
  { signal }: TogetherOptions,
): Promise<UploadTarget[]> {
  if (files.length === 0) return []
  const named = files.map(({ filename, contentType, content_hash }) => ({
    filename,
    content_type: contentType,
    expected_hash: content_hash,
  }))
  const { body } = await call(context, createFiles, { params: { locker_id }, body: { files: named }, signal })
  if (body.files.length !== files.length) throw new UntrueAnswer('the gateway named other files than it was asked to')
  return body.files
}

async function confirm(
  context: Context,
  { receipt_id }: Locker,
  files: readonly ReadFile[],
  { signal }: TogetherOptions,
): Promise<PutOutcome[]> {
  if (files.length === 0) return []
  const filenames = files.map(({ filename }) => filename)
  const { body } = await call(context, confirmFiles, { body: { receipt_id, filenames }, signal })
  const results = new Map(body.results.map((result) => [result.filename, result]))
  return files.map(({ filename, size_bytes, content_hash }) => {
    const result = results.get(filename)
    if (!result?.ok) return { filename, error: new Error(`${result?.error}: ${result?.message}`) }
    const isSame = result.content_hash === content_hash && result.size_bytes === size_bytes
    if (!isSame) return { filename, error: new BytesDiffer(filename, content_hash, result.content_hash) }
    return { filename, stored: { filename, size_bytes, content_hash } }
  })
}
