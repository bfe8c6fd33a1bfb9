// Many files at once. Small ones are named and confirmed by the hundred: URLs are counted by the call, not by the file.

import type { Context } from '../context.ts'
import type { Locker } from '../lockers/locker.ts'
import { put } from './put.ts'
import type { NamedSource, PutOutcome } from './put-outcome.ts'
import { putTogether } from './put-together.ts'
import { type SourceLike, sourceOf } from './source.ts'
import { SMALL_FILE_BYTES } from './upload.ts'

export interface NamedBytes {
  filename: string
  bytes: SourceLike
  contentType?: string
}

export interface ManyOptions {
  /** How many at once; 4 unless told. */
  atOnce?: number
  /** Told of each file as it is done. */
  onFile?: (outcome: PutOutcome) => void
  signal?: AbortSignal | undefined
}

const BATCH_FILES = 100
const BATCH_BYTES = 32 * 1024 * 1024

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
  { atOnce = 4, signal }: ManyOptions,
): Promise<PutOutcome[]> {
  const [first] = batch
  if (batch.length > 1) return putTogether(context, locker, batch, { atOnce, signal })
  if (!first) return []
  const { filename, source, contentType } = first
  const options = { ...(contentType && { contentType }), signal }
  const outcome = put(context, locker, filename, source, options).then(
    (stored) => ({ filename, stored }),
    (error: unknown) => ({ filename, error }),
  )
  return [await outcome]
}

/** Small files together, up to a size that fits into memory several times; each large one by itself. */
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
