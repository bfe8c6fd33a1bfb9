// The state of a locker's files page, for one session.

import { listFiles } from '@svc/api/files'
import type { LockerSession } from '../session.ts'
import { createDeletions } from './deletions.ts'
import { createListing } from './listing.ts'
import { createSelection } from './selection.ts'
import { unwatchUploads, watchUploads } from './uploads/open-uploads.ts'

/** The delay of reloads, because an upload changes the list with every file. */
const RELOAD_DELAY_MS = 1_500

export function createParts(session: LockerSession) {
  const { client, locker } = session
  const params = { locker_id: locker.locker_id }
  const listing = createListing(async (query, signal) => (await client.call(listFiles, { params, query, signal })).body)
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLeft = false

  /** Reloads the list and the facts of the locker. */
  const changed = async () => {
    if (isLeft) return
    if (session.isSilent) void session.refresh().catch(() => {})
    await listing.refresh({ isChanging: uploads.totals().isActive })
  }
  /** Reloads once for many changes. */
  const changedSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      void changed()
    }, RELOAD_DELAY_MS)
  }
  const deletions = createDeletions(client, locker, changed)
  const watcher = {
    onStored(filename: string) {
      void deletions.release([filename])
      changedSoon()
    },
    onSettled: changedSoon,
  }
  const uploads = watchUploads(session, watcher)
  return {
    listing,
    selection: createSelection(),
    deletions,
    uploads,
    changed,
    leave() {
      isLeft = true
      clearTimeout(timer)
      unwatchUploads(session, watcher)
      listing.stop()
    },
  }
}
