import { requireObjectId } from '../object-rules.ts'
import { type ClosableProvider, succeeds } from '../provider.ts'
import type { Timeouts } from '../timeouts.ts'
import { openBucket } from './bucket.ts'
import { mongodbParts } from './parts.ts'
import { createPreparation } from './prepare.ts'
import { findAbsent, findObject, readObject } from './read.ts'
import type { MongodbSettings } from './settings.ts'
import { writeObject } from './write.ts'

const TIMEOUTS: Timeouts = { connectMs: 5000, answerMs: 20_000, attempts: 3, backoffMs: 200 }

/** Opens even while the provider is down: `check` reports it, and the provider is used as soon as it is back. */
export async function openMongodb(settings: MongodbSettings, timeouts = TIMEOUTS): Promise<ClosableProvider> {
  const bucket = openBucket(settings, timeouts)
  const prepare = createPreparation(bucket)
  await prepare().catch(() => {})
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    async write(id, bytes, { size }) {
      return { size: await writeObject(bucket, prepare, requireObjectId(id), bytes, size), ref: null }
    },
    parts: mongodbParts(bucket, prepare),
    read: async ({ id }, range) => readObject(bucket, requireObjectId(id), range),
    async stat({ id }) {
      const found = await findObject(bucket, requireObjectId(id))
      return found && { size: found.size }
    },
    absent: async (keys) =>
      findAbsent(
        bucket,
        keys.map(({ id }) => requireObjectId(id)),
      ),
    async remove({ id }) {
      requireObjectId(id)
      // In this order no reader gets half of it. Remaining chunks go when it is removed again.
      await bucket.ask((options) => bucket.files.deleteOne({ _id: id }, options))
      await bucket.ask((options) => bucket.chunks.deleteMany({ files_id: id }, options))
      return 'removed'
    },
    // A ping would also succeed without permission to read.
    check: () => succeeds(findObject({ ...bucket, ask: bucket.askQuickly }, '')),
    close: bucket.close,
  }
}
