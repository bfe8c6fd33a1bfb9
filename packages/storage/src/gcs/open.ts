import { isHex } from '@svc/protocol/bytes'
import type { Redirect, StorageProvider } from '../provider.ts'
import { findAbsent } from './absent.ts'
import { ONLY_IF_NEW, openAccount } from './account.ts'
import { PATIENCE, type Patience } from './patience.ts'
import { readObject } from './read.ts'
import type { GcsSettings } from './settings.ts'
import { createStore } from './bucket.ts'
import { MAX_BYTES, writeObject } from './write.ts'

/** Objects in a bucket of Google Cloud Storage. Several gateways may share a bucket. */
export async function openGcs(settings: GcsSettings, patience: Patience = PATIENCE): Promise<StorageProvider> {
  const { bucket, prefix, endpoint, redirect } = settings
  const account = await openAccount(settings, patience)
  const store = createStore(endpoint, bucket, account, patience)
  const onlyOnce = createStore(endpoint, bucket, account, { ...patience, attempts: 1 })

  /** An id becomes part of an address: whatever else a caller might pass must not. */
  function nameOf(id: string): string {
    if (!isHex(id, 16)) throw new RangeError('an object id is 32 lowercase hex characters')
    return prefix + id
  }

  async function target(
    id: string,
    action: 'read' | 'write',
    about: { contentType: string; expiresInSeconds: number },
  ) {
    const headers: Redirect['headers'] = action === 'write' ? { 'content-type': about.contentType, ...ONLY_IF_NEW } : {}
    return { url: await account.sign(nameOf(id), { action, ...about }), headers }
  }

  return {
    maxBytes: MAX_BYTES,
    ...(redirect === 'all' && { uploadHeaders: ONLY_IF_NEW }),
    uploadTarget: async (id, upload) => (redirect === 'all' ? target(id, 'write', upload) : null),
    downloadTarget: async ({ id }, download) => (redirect === 'off' ? null : target(id, 'read', download)),
    async write(id, bytes, about) {
      return { size: await writeObject(store, nameOf(id), bytes, about), ref: null }
    },
    read: async ({ id }, range) => readObject(store, nameOf(id), range),
    async stat({ id }) {
      const found = await store.find(nameOf(id))
      return found && { size: found.size }
    },
    async absent(keys) {
      const absent = await findAbsent(
        store,
        keys.map(({ id }) => nameOf(id)),
        prefix,
      )
      return new Set(keys.map(({ id }) => id).filter((id) => absent.has(prefix + id)))
    },
    async remove({ id }) {
      await store.remove(nameOf(id))
      return 'removed'
    },
    /** The cheapest question, after an object that nobody has: we are let in, and the bucket is there. */
    check: () =>
      onlyOnce.find(`${prefix}check`).then(
        () => true,
        () => false,
      ),
  }
}
