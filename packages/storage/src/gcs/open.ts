import { objectFacts, requireObjectId } from '../object-rules.ts'
import { type StorageProvider, succeeds } from '../provider.ts'
import { HTTP_TIMEOUTS, type HttpTimeouts } from '../timeouts.ts'
import { findAbsent } from './absent.ts'
import { openAccount, uploadConditions } from './account.ts'
import { openBucket } from './bucket.ts'
import { gcsParts, removeParts } from './parts.ts'
import { readObject } from './read.ts'
import type { GcsSettings } from './settings.ts'
import { MAX_BYTES, writeObject } from './write.ts'

const TIMEOUTS: HttpTimeouts = { ...HTTP_TIMEOUTS, answerMs: 60_000, idleMs: 60_000, giveUpMs: 90_000 }

/** Objects in a bucket of Google Cloud Storage. Several gateways may share a bucket. */
export async function openGcs(settings: GcsSettings, timeouts = TIMEOUTS): Promise<StorageProvider> {
  const { prefix, endpoint, redirect } = settings
  const account = await openAccount(settings, timeouts)
  const bucket = openBucket(endpoint, settings.bucket, account, timeouts)
  const withoutRetries = openBucket(endpoint, settings.bucket, account, { ...timeouts, attempts: 1 })
  const nameOf = (id: string) => prefix + requireObjectId(id)

  return {
    maxBytes: MAX_BYTES,
    ...(redirect !== 'off' && { redirectsTo: new URL(endpoint).origin }),
    ...(redirect === 'all' && { uploadHeaders: uploadConditions }),
    async uploadTarget(id, { contentType, expiresInSeconds, maxBytes }) {
      if (redirect !== 'all') return null
      const conditions = uploadConditions(maxBytes)
      const url = await account.sign(nameOf(id), { action: 'write', contentType, expiresInSeconds, conditions })
      return { url, headers: { 'content-type': contentType, ...conditions } }
    },
    async downloadTarget({ id }, download) {
      if (redirect === 'off') return null
      return { url: await account.sign(nameOf(id), { action: 'read', ...download }), headers: {} }
    },
    async write(id, bytes, about) {
      return { size: await writeObject(bucket, nameOf(id), bytes, about), ref: null }
    },
    parts: gcsParts(bucket, nameOf),
    read: async ({ id }, range) => readObject(bucket, nameOf(id), range),
    async stat({ id }) {
      const found = await bucket.find(nameOf(id))
      return found && objectFacts(found)
    },
    async absent(keys) {
      const names = keys.map(({ id }) => nameOf(id))
      const absent = await findAbsent(bucket, names, prefix)
      return new Set(keys.map(({ id }) => id).filter((id) => absent.has(prefix + id)))
    },
    async remove({ id }) {
      await bucket.remove(nameOf(id))
      // Parts may have been combined meanwhile.
      if (await removeParts(bucket, nameOf(id))) await bucket.remove(nameOf(id))
      return 'removed'
    },
    /** The cheapest query: it succeeds when we may read and the bucket exists. */
    check: () => succeeds(withoutRetries.find(`${prefix}check`)),
  }
}
