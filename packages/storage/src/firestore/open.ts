import { type ClosableProvider, succeeds } from '../provider.ts'
import type { Timeouts } from '../timeouts.ts'
import { openCalls } from './calls.ts'
import { firestoreParts } from './parts.ts'
import { findAbsent, readObject } from './read.ts'
import type { FirestoreSettings } from './settings.ts'
import { createStore, findObject } from './store.ts'
import { removeObject, writeObject } from './write.ts'

const TIMEOUTS: Timeouts = { connectMs: 5000, answerMs: 20_000, attempts: 3, backoffMs: 500 }

/** An id that no object has, because ids are random. */
const UNUSED_ID = '0'.repeat(32)

/** Objects in documents of Firestore. Several gateways may share a collection. */
export async function openFirestore(settings: FirestoreSettings, timeouts = TIMEOUTS): Promise<ClosableProvider> {
  const calls = openCalls(settings)
  const store = createStore(calls, timeouts)
  const quickStore = createStore(calls, { ...timeouts, answerMs: timeouts.connectMs, attempts: 1 })
  const maxBytes = settings.maxObjectBytes
  return {
    maxBytes,
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    async write(id, bytes, { size }) {
      return { size: await writeObject(store, id, bytes, { declaredSize: size, maxBytes }), ref: null }
    },
    parts: firestoreParts(store),
    read: ({ id }, range) => readObject(store, id, range),
    async stat({ id }) {
      const found = await findObject(store, id)
      return found && { size: found.size }
    },
    absent: async (keys) =>
      findAbsent(
        store,
        keys.map(({ id }) => id),
      ),
    async remove({ id }) {
      await removeObject(store, id)
      return 'removed'
    },
    check: () => succeeds(findObject(quickStore, UNUSED_ID)),
    close: calls.close,
  }
}
