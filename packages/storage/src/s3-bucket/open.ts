import { objectFacts } from '../object-rules.ts'
import { type StorageProvider, succeeds } from '../provider.ts'
import { HTTP_TIMEOUTS } from '../timeouts.ts'
import { findAbsent } from './absent.ts'
import { findObject, openBucket, requireBucket } from './bucket.ts'
import { s3BucketParts } from './parts.ts'
import { readObject } from './read.ts'
import type { S3BucketSettings } from './settings.ts'
import { MAX_BYTES, ONLY_IF_NEW, removeObject, writeObject } from './write.ts'

/** Objects in a bucket of any store that speaks S3. Several gateways may share a bucket. */
export async function openS3Bucket(settings: S3BucketSettings, timeouts = HTTP_TIMEOUTS): Promise<StorageProvider> {
  const bucket = openBucket(settings, timeouts)
  const withoutRetries = openBucket(settings, { ...timeouts, attempts: 1 })
  return {
    maxBytes: MAX_BYTES,
    ...(settings.redirect !== 'off' && { redirectsTo: new URL(settings.endpoint).origin }),
    ...(settings.redirect === 'all' && { uploadHeaders: () => ONLY_IF_NEW }),
    async uploadTarget(id, { contentType, expiresInSeconds, size }) {
      // S3 accepts no body of unknown length, and can only fix an exact length.
      if (settings.redirect !== 'all' || size === null) return null
      // Without the condition, a client with the address could replace an object.
      const headers = { 'content-type': contentType, 'content-length': `${size}`, ...ONLY_IF_NEW }
      return { url: await bucket.presign({ method: 'PUT', key: bucket.keyOf(id), headers }, expiresInSeconds), headers }
    },
    async downloadTarget({ id }, { contentType, expiresInSeconds }) {
      if (settings.redirect === 'off') return null
      // A client that uploads directly may store a cache policy with the object; no cache may store the answer of a
      // signed address.
      const query = { 'response-content-type': contentType, 'response-cache-control': 'private, no-store' }
      const call = { method: 'GET', key: bucket.keyOf(id), query } as const
      return { url: await bucket.presign(call, expiresInSeconds), headers: {} }
    },
    async write(id, bytes, about) {
      return { size: await writeObject(bucket, bucket.keyOf(id), bytes, about), ref: null }
    },
    parts: s3BucketParts(bucket),
    read: async ({ id }, range) => readObject(bucket, bucket.keyOf(id), range),
    async stat({ id }) {
      const found = await findObject(bucket, bucket.keyOf(id))
      if (!found) await requireBucket(bucket)
      return found && objectFacts(found)
    },
    absent: async (keys) => findAbsent(bucket, new Set(keys.map(({ id }) => id))),
    async remove({ id }) {
      await removeObject(bucket, bucket.keyOf(id))
      return 'removed'
    },
    check: () => succeeds(requireBucket(withoutRetries)),
  }
}
