import type { StorageProvider } from '../provider.ts'
import { absentObjects } from './absent-objects.ts'
import { openCalls } from './calls.ts'
import { findObject } from './find-object.ts'
import { PATIENCE, type Patience } from './patience.ts'
import { readObject } from './read.ts'
import { removeObject } from './remove-object.ts'
import type { FirestoreSettings } from './settings.ts'
import { createStore } from './store.ts'
import { writeObject } from './write.ts'

export interface FirestoreProvider extends StorageProvider {
  /** Lets go of its connection. */
  close(): Promise<void>
}

/** An id that nobody has, as all others are random. */
const NOBODYS = '0'.repeat(32)

/** Objects in documents of Firestore. Several gateways may share a collection. */
export async function openFirestore(
  settings: FirestoreSettings,
  patience: Patience = PATIENCE,
): Promise<FirestoreProvider> {
  const calls = openCalls(settings)
  const store = createStore(calls, patience)
  const hasty = createStore(calls, { ...patience, answerMs: patience.briefMs, attempts: 1 })
  const maxBytes = settings.maxObjectBytes
  return {
    maxBytes,
    uploadTarget: async () => null,
    downloadTarget: async () => null,
    async write(id, bytes, { size }) {
      return { size: await writeObject(store, id, bytes, { declaredSize: size, maxBytes }), ref: null }
    },
    read: ({ id }, range) => readObject(store, id, range),
    async stat({ id }) {
      const found = await findObject(store, id)
      return found && { size: found.size }
    },
    absent: (keys) =>
      absentObjects(
        store,
        keys.map(({ id }) => id),
      ),
    async remove({ id }) {
      await removeObject(store, id)
      return 'removed'
    },
    check: () =>
      findObject(hasty, NOBODYS).then(
        () => true,
        () => false,
      ),
    close: calls.close,
  }
}
