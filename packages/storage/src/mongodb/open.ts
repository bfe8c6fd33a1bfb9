import type { StorageProvider } from '../provider.ts'
import { absentObjects } from './absent-objects.ts'
import { openBucket, type Timeouts } from './bucket.ts'
import { createPreparation } from './prepare.ts'
import { findObject, readObject } from './read.ts'
import type { MongodbSettings } from './settings.ts'
import { writeObject } from './write.ts'

const TIMEOUTS: Timeouts = { connectMs: 5000, answerMs: 20_000 }

export interface MongodbProvider extends StorageProvider {
  /** Lets go of its connections. */
  close(): Promise<void>
}

/** Opens while the provider is down, too: `check` tells, and it is used as soon as it is back. */
export async function openMongodb(settings: MongodbSettings, timeouts = TIMEOUTS): Promise<MongodbProvider> {
  const bucket = openBucket(settings, timeouts)
  const prepare = createPreparation(bucket)
  await prepare().catch(() => {})
  return {
    maxBytes: Number.POSITIVE_INFINITY,
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    async write(id, bytes, { size }) {
      return { size: await writeObject(bucket, prepare, id, bytes, size), ref: null }
    },
    read: ({ id }, range) => readObject(bucket, id, range),
    async stat({ id }) {
      const found = await findObject(bucket, id)
      return found && { size: found.size }
    },
    absent: (keys) =>
      absentObjects(
        bucket,
        keys.map(({ id }) => id),
      ),
    async remove({ id }) {
      // In this order nobody reads half of it; chunks that are left then go when it is removed again.
      await bucket.ask((options) => bucket.files.deleteOne({ _id: id }, options))
      await bucket.ask((options) => bucket.chunks.deleteMany({ files_id: id }, options))
      return 'removed'
    },
    // Not a ping, which also answers those who may not read.
    check: () =>
      findObject({ ...bucket, ask: bucket.askBriefly }, '').then(
        () => true,
        () => false,
      ),
    close: bucket.close,
  }
}
