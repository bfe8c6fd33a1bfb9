import type { Bucket } from './bucket.ts'
import { discard } from './discard.ts'

/** No write takes a week: what is not whole by then was left by a process that died. */
const LEFTOVER_AGE_MS = 7 * 24 * 3600 * 1000
const SWEEP_AT_ONCE = 100

/** Makes the indexes and clears away what was left; once, or again until it works. */
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
  // What cannot be cleared away now is left for the next start.
  await sweep(bucket).catch(() => {})
}

/** File times are ours, so the clock is the system's. */
async function sweep(bucket: Bucket): Promise<void> {
  const isOld = { 'metadata.isWhole': false, uploadDate: { $lt: new Date(Date.now() - LEFTOVER_AGE_MS) } }
  const leftovers = await bucket.ask((options) => bucket.files.find(isOld, options).limit(SWEEP_AT_ONCE).toArray())
  for (const { _id: id, metadata } of leftovers) await discard({ bucket, id, write: metadata.write })
}
