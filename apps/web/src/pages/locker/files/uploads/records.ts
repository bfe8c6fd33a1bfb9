// Records of uploads that a closed or reloaded page interrupted. The browser stores names, sizes and, if it can, handles
// of the files, but never their content.

import { resultOf } from '../../../../database-request.ts'

export interface UploadRecord {
  lockerId: string
  filename: string
  size: number
  lastModified: number
  isEncrypted: boolean
  handle: FileSystemFileHandle | null
  /** Missing in older records: then nothing is replaced without asking. */
  mayReplace?: boolean
  /** The id of the page that uploads it. */
  tab: string
}

const NAME = 'svc-uploads'
const STORE = 'unfinished'
const TAB = crypto.randomUUID()

/** Whether this page holds its lock, which shows other pages that its uploads continue. */
let isHolding = false

export async function saveRecords(records: readonly Omit<UploadRecord, 'tab'>[]): Promise<void> {
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

/** The records of a locker that no other open page uploads. */
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
    // Without a record, the upload continues, but not after a reload.
    transaction.onabort = () => resolve()
  })
  database.close()
}

/** Null if the browser has no database, as in some private windows. */
async function open(): Promise<IDBDatabase | null> {
  try {
    const request = indexedDB.open(NAME, 1)
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, { keyPath: ['lockerId', 'filename'] })
    return await resultOf(request)
  } catch {
    return null
  }
}
