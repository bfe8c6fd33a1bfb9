// A bundle that is dropped on any page, handed over to the verify page: that is a document of its own, so the file
// waits
// in the browser's own database for the moment in between. It goes nowhere else.

import { urlOf } from '../address.ts'
import { resultOf } from '../database-request.ts'

const DATABASE = 'svc-hand-over'
const STORE = 'files'
/** A page that was closed in between leaves its file behind; the next hand-over removes it. */
const KEEP_MS = 600_000
const HASH = /^#dropped=([0-9a-f]{32})$/

interface Waiting {
  file: File
  at: number
}

/** Throws where the browser keeps no database for pages. */
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

/** Null where nothing was handed over; without a file where it is gone, as after a reload. */
export async function takeHandedOver(): Promise<{ file: File | null } | null> {
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
    if (Date.now() - at > KEEP_MS) await resultOf(store.delete(key))
  }
}
