import type { Bucket } from './bucket.ts'
import { discard } from './write.ts'

/** No write takes a week: an incomplete object of this age was left by a dead process. */
const LEFTOVER_AGE_MS = 7 * 24 * 3600 * 1000
const SWEEP_AT_ONCE = 100

/** Creates the indexes and removes leftovers; once, or again until it succeeds. */
export function createPreparation(bucket: Bucket): () => Promise<void> {
  let preparation: Promise<void> | null = null
  return () => {
    preparation ??= prepare(bucket).catch((error) => {
      preparation = null
      throw error
    })
    return preparation
  }
}

async function prepare(bucket: Bucket): Promise<void> {
  const { files, chunks, ask } = bucket
  await ask((options) => chunks.createIndex({ files_id: 1, n: 1 }, { ...options, unique: true }))
  const isLeftover = { 'metadata.isWhole': false }
  await ask((options) => files.createIndex({ uploadDate: 1 }, { ...options, partialFilterExpression: isLeftover }))
  // Leftovers that cannot be removed now stay until the next start.
  await sweep(bucket).catch(() => {})
}

/** Upload dates use the system clock, so this does too. */
async function sweep(bucket: Bucket): Promise<void> {
  const isOld = { 'metadata.isWhole': false, uploadDate: { $lt: new Date(Date.now() - LEFTOVER_AGE_MS) } }
  const leftovers = await bucket.ask((options) => bucket.files.find(isOld, options).limit(SWEEP_AT_ONCE).toArray())
  for (const { _id: id, metadata } of leftovers) await discard({ bucket, id, write: metadata.write })
}
