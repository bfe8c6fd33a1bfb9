import { PATIENCE, type Patience } from '../timeouts.ts'
import type { StorageProvider } from '../provider.ts'
import { findAbsent } from './absent.ts'
import { findObject, requireBucket } from './find-object.ts'
import { ONLY_IF_NEW } from './own-write.ts'
import { readObject } from './read.ts'
import { removeObject } from './remove-object.ts'
import type { StorjSettings } from './settings.ts'
import { createStore } from './bucket.ts'
import { MAX_BYTES, writeObject } from './write.ts'

/** Objects in a bucket of Storj, or of another store that speaks S3. Several gateways may share a bucket. */
export async function openStorj(settings: StorjSettings, patience: Patience = PATIENCE): Promise<StorageProvider> {
  const store = createStore(settings, patience)
  const onlyOnce = createStore(settings, { ...patience, attempts: 1 })
  return {
    maxBytes: MAX_BYTES,
    ...(settings.redirect === 'all' && { uploadHeaders: ONLY_IF_NEW }),
    async uploadTarget(id, { contentType, expiresInSeconds }) {
      if (settings.redirect !== 'all') return null
      // Without the last, whoever has the address could change what others have seen.
      const headers = { 'content-type': contentType, ...ONLY_IF_NEW }
      return { url: await store.presign({ method: 'PUT', key: store.keyOf(id), headers }, expiresInSeconds), headers }
    },
    async downloadTarget({ id }, { contentType, expiresInSeconds }) {
      if (settings.redirect === 'off') return null
      const query = { 'response-content-type': contentType }
      return { url: await store.presign({ method: 'GET', key: store.keyOf(id), query }, expiresInSeconds), headers: {} }
    },
    async write(id, bytes, about) {
      return { size: await writeObject(store, store.keyOf(id), bytes, about), ref: null }
    },
    read: async ({ id }, range) => readObject(store, store.keyOf(id), range),
    async stat({ id }) {
      const found = await findObject(store, store.keyOf(id))
      if (!found) await requireBucket(store)
      return found && { size: found.size }
    },
    absent: async (keys) => findAbsent(store, new Set(keys.map(({ id }) => id))),
    async remove({ id }) {
      await removeObject(store, store.keyOf(id))
      return 'removed'
    },
    check: () =>
      requireBucket(onlyOnce).then(
        () => true,
        () => false,
      ),
  }
}
