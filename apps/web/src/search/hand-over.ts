// Hands a bundle that was dropped on any page over to the verify page. That page is a separate document, so the file is
// stored in the browser's own database for a moment. It is not sent anywhere.

import { urlOf } from '../address.ts'
import { resultOf } from '../database-request.ts'

const DATABASE = 'svc-hand-over'
const STORE = 'files'
/** A page that is closed too early leaves its file behind; the next hand-over removes it. */
const LIFETIME_MS = 600_000
const HASH = /^#dropped=([0-9a-f]{32})$/

interface Waiting {
  file: File
  at: number
}

/** Throws if the browser has no database for pages. */
export async function handOver(file: File): Promise<void> {
  const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
  const database = await openDatabase()
  try {
    const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
    await removeOld(store)
    await resultOf(store.put({ file, at: Date.now() } satisfies Waiting, id))
  } finally {
    database.close()
  }
  location.assign(urlOf(`/verify#dropped=${id}`))
}

/** Null if nothing was handed over; `file` is null if it is gone, for example after a reload. */
export async function receiveHandedOver(): Promise<{ file: File | null } | null> {
  const id = HASH.exec(location.hash)?.[1]
  if (id === undefined) return null
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const database = await openDatabase()
    const store = database.transaction(STORE, 'readwrite').objectStore(STORE)
    const waiting = (await resultOf(store.get(id))) as Waiting | undefined
    await resultOf(store.delete(id))
    database.close()
    return { file: waiting?.file ?? null }
  } catch {
    return { file: null }
  }
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1)
  request.onupgradeneeded = () => request.result.createObjectStore(STORE)
  return resultOf(request)
}

async function removeOld(store: IDBObjectStore): Promise<void> {
  for (const key of await resultOf(store.getAllKeys())) {
    const { at } = (await resultOf(store.get(key))) as Waiting
    if (Date.now() - at > LIFETIME_MS) await resultOf(store.delete(key))
  }
}
