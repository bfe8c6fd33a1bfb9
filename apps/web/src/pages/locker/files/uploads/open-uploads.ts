// The uploads of each locker, for the lifetime of this document: they continue while other pages are shown, appear again
// on the page of their locker, and end when the page is locked (T-68).

import { type Client, storageJournal } from '@svc/sdk'
import type { Signer } from '@svc/sdk/signers'
import { createSignedClient } from '../../../../signed-client.ts'
import { endWithLock, type LockerSession } from '../../session.ts'
import { createUploads, type UploadEvents, type Uploads } from './queue.ts'

interface OpenUploads {
  uploads: Uploads
  /** The signer for their next requests. */
  signer: Signer
  /** Saves records of unfinished uploads, which a reload finds. */
  client: Promise<Client> | null
  watcher: UploadEvents | null
}

const byLocker = new Map<string, OpenUploads>()

/** Shows the uploads of a locker until its page is left. */
export function watchUploads({ locker, signer }: LockerSession, watcher: UploadEvents): Uploads {
  const known = byLocker.get(locker.locker_id)
  if (known) {
    if (known.signer !== signer) Object.assign(known, { signer, client: null })
    known.watcher = watcher
    return known.uploads
  }
  const client = () => {
    opened.client ??= createSignedClient(opened.signer, storageJournal())
    return opened.client
  }
  const uploads = createUploads(client, locker, {
    onStored: (filename) => opened.watcher?.onStored(filename),
    onSettled: () => opened.watcher?.onSettled(),
  })
  const opened: OpenUploads = { uploads, signer, client: null, watcher }
  byLocker.set(locker.locker_id, opened)
  return uploads
}

export function unwatchUploads({ locker }: LockerSession, watcher: UploadEvents): void {
  const opened = byLocker.get(locker.locker_id)
  if (opened?.watcher === watcher) opened.watcher = null
}

endWithLock(() => {
  for (const opened of byLocker.values()) {
    opened.watcher = null
    opened.uploads.end()
  }
  byLocker.clear()
})

addEventListener('beforeunload', (event) => {
  if ([...byLocker.values()].some(({ uploads }) => uploads.totals().isActive)) event.preventDefault()
})
