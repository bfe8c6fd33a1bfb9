// What was being uploaded when a page was closed or reloaded. The browser keeps the names, sizes and, where it can, the
// way back to the files; never their content.

import { resultOf } from '../../../../database-request.ts'

export interface UploadRecord {
  lockerId: string
  filename: string
  size: number
  lastModified: number
  isEncrypted: boolean
  handle: FileSystemFileHandle | null
  /** Records of before have none: then nothing is replaced unasked. */
  mayReplace?: boolean
  /** The page that uploads it. */
  tab: string
}

const NAME = 'svc-uploads'
const STORE = 'unfinished'
const TAB = crypto.randomUUID()

/** Held as long as this page is open, so that others can tell whether an upload goes on. */
let isHolding = false

export async function keepRecords(records: readonly Omit<UploadRecord, 'tab'>[]): Promise<void> {
  if (!isHolding && navigator.locks) {
    isHolding = true
    void navigator.locks.request(NAME + TAB, () => new Promise(() => {}))
  }
  await change((store) => {
    for (const record of records) store.put({ ...record, tab: TAB })
  })
}

export async function dropRecords(lockerId: string, filenames: readonly string[]): Promise<void> {
  await change((store) => {
    for (const filename of filenames) store.delete([lockerId, filename])
  })
}

/** Those of a locker that no other open page uploads; this one knows its own. */
export async function interruptedUploads(lockerId: string): Promise<UploadRecord[]> {
  const database = await open()
  if (!database) return []
  try {
    const store = database.transaction(STORE).objectStore(STORE)
    const range = IDBKeyRange.bound([lockerId], [lockerId, []])
    const records = (await resultOf(store.getAll(range, 10_000))) as UploadRecord[] // as they were put
    const { held = [] } = (await navigator.locks?.query()) ?? {}
    return records.filter(({ tab }) => tab === TAB || !held.some(({ name }) => name === NAME + tab))
  } finally {
    database.close()
  }
}

async function change(work: (store: IDBObjectStore) => void): Promise<void> {
  const database = await open()
  if (!database) return
  const transaction = database.transaction(STORE, 'readwrite')
  work(transaction.objectStore(STORE))
  await new Promise<void>((resolve) => {
    transaction.oncomplete = () => resolve()
    // Without a record, an upload cannot be continued after a reload; it goes on all the same.
    transaction.onabort = () => resolve()
  })
  database.close()
}

/** Null where the browser keeps nothing, as in some private windows. */
async function open(): Promise<IDBDatabase | null> {
  try {
    const request = indexedDB.open(NAME, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: ['lockerId', 'filename'] })
    return await resultOf(request)
  } catch {
    return null
  }
}
