// Uploads many files. Small ones are created and confirmed in batches of a hundred, because rate limits count calls.

import { confirmFiles } from '@svc/api/confirm-files'
import { createFiles } from '@svc/api/files'
import { inParallel } from '@svc/concurrency/parallel'
import { withPrefix } from '@svc/protocol/bytes'
import { call } from '../calls/call.ts'
import type { Context } from '../context.ts'
import { BytesDiffer, UntrueAnswer } from '../errors.ts'
import type { Locker } from '../lockers.ts'
import { sha256Hex } from '../sha256.ts'
import { requireName } from './filename.ts'
import { put } from './put.ts'
import { putNew } from './put-new.ts'
import { type UploadTarget, writeBytes } from './short-urls.ts'
import { readWhole, type Source, type SourceLike, sourceOf } from './source.ts'
import { type PutOutcome, type ReadFile, SMALL_FILE_BYTES } from './upload.ts'

export interface NamedBytes {
  filename: string
  bytes: SourceLike
  contentType?: string
}

export interface ManyOptions {
  /** The number of parallel uploads; 4 by default. */
  atOnce?: number
  /** Called for each file when it is done. */
  onFile?: (outcome: PutOutcome) => void
  /** The same as for a single file. */
  overwrite?: boolean
  signal?: AbortSignal | undefined
}

const BATCH_FILES = 100
const BATCH_BYTES = 32 * 1024 * 1024

/** Stores many files in parallel, small ones in batches, and returns the outcome of each. */
export async function putMany(
  context: Context,
  locker: Locker,
  files: Iterable<NamedBytes> | AsyncIterable<NamedBytes>,
  options: ManyOptions = {},
): Promise<PutOutcome[]> {
  const { onFile, signal } = options
  const all: PutOutcome[] = []
  for await (const batch of batches(files)) {
    signal?.throwIfAborted()
    const outcomes = await putBatch(context, locker, batch, options)
    for (const outcome of outcomes) onFile?.(outcome)
    all.push(...outcomes)
  }
  return all
}

async function putBatch(
  context: Context,
  locker: Locker,
  batch: readonly NamedSource[],
  { atOnce = 4, overwrite = true, signal }: ManyOptions,
): Promise<PutOutcome[]> {
  const [first] = batch
  if (batch.length > 1) return putTogether(context, locker, batch, { atOnce, overwrite, signal })
  if (!first) return []
  const { filename, source, contentType } = first
  const options = { ...(contentType && { contentType }), overwrite, signal }
  const outcome = put(context, locker, filename, source, options).then(
    (stored) => ({ filename, stored }),
    (error: unknown) => ({ filename, error }),
  )
  return [await outcome]
}

/** Groups small files up to a size that fits into memory several times. Each large file is a group. */
async function* batches(files: Iterable<NamedBytes> | AsyncIterable<NamedBytes>): AsyncGenerator<NamedSource[]> {
  let batch: NamedSource[] = []
  let bytes = 0
  for await (const { filename, bytes: given, contentType } of files) {
    const source = sourceOf(given)
    const named = { filename, source, contentType: contentType ?? source.contentType }
    const size = source.size ?? Number.POSITIVE_INFINITY
    if (size > SMALL_FILE_BYTES) {
      yield [named]
      continue
    }
    batch.push(named)
    bytes += size
    if (batch.length < BATCH_FILES && bytes < BATCH_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}

interface TogetherOptions {
  atOnce: number
  overwrite: boolean
  signal: AbortSignal | undefined
}

/** Uploads small files: one call creates them, one call confirms them. */
async function putTogether(
  context: Context,
  locker: Locker,
  batch: readonly NamedSource[],
  options: TogetherOptions,
): Promise<PutOutcome[]> {
  const outcomes = new Map<string, PutOutcome>()
  const failed = (filename: string) => (error: unknown) => void outcomes.set(filename, { filename, error })
  const files: ReadFile[] = []
  for (const one of batch) await readFile(one).then((file) => files.push(file), failed(one.filename))
  const send = options.overwrite ? replaceFiles : putNew
  try {
    for (const outcome of await send(context, locker, files, options)) outcomes.set(outcome.filename, outcome)
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

async function replaceFiles(
  context: Context,
  locker: Locker,
  files: readonly ReadFile[],
  options: TogetherOptions,
): Promise<PutOutcome[]> {
  const failed: PutOutcome[] = []
  const written: ReadFile[] = []
  const targets = await nameFiles(context, locker, files, options)
  await inParallel(files, options.atOnce, async (file, i) => {
    const { filename, bytes } = file
    await writeBytes(context, targets[i] as UploadTarget, bytes, options.signal).then(
      () => written.push(file),
      (error: unknown) => failed.push({ filename, error }),
    )
  })
  return [...failed, ...(await confirm(context, locker, written, options))]
}

/** The upload URLs of the files, in the same order. */
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
  if (body.files.length !== files.length) throw new UntrueAnswer('the gateway created other files than requested')
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

interface NamedSource {
  filename: string
  source: Source
  contentType: string | undefined
}
