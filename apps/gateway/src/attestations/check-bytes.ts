// Reads the bytes of all that is to be attested anew, and holds them against what was recorded (AMB-34).

import { limit } from '@svc/concurrency/locks'
import type { Db, FileRow, Locker } from '../db/schema.ts'
import type { HashObject } from '../files/confirm/hash-object.ts'
import { firstPageOf, pagesFrom, readPage } from '../files/lists/file-pages.ts'
import type { FindAbsent } from './snapshots/present-files.ts'
import { findFilesOfObjects } from './store.ts'

export interface ByteCheck {
  /**
   * Reads what the locker holds now. It may take hours, in which nothing is kept open. What has come meanwhile is read
   * with the snapshot.
   */
  readAhead(): Promise<void>
  /** For a snapshot: an object whose bytes are not there to be read is absent. */
  findAbsent: FindAbsent
  /** Files whose bytes are not what was recorded of them. */
  changed(): string[]
  /** Whether a snapshot has a file that was replaced before its bytes could be held against anything. */
  isOutdated(): boolean
}

/** Fewer than the reader takes on, so that a second locker is not kept waiting. */
const READ_AT_ONCE = 4

export function createByteCheck(db: Db, { locker_id, provider }: Locker, readObject: HashObject): ByteCheck {
  /** Objects never change in the gateway's hands, so one that was read in this run need not be read twice. */
  const good = new Set<string>()
  const changed = new Set<string>()
  let isOutdated = false
  const inTurn = limit(READ_AT_ONCE)

  async function check({ filename, object_id: id, provider_ref: ref, size_bytes, content_hash }: FileRow) {
    if (id === null || content_hash === null || good.has(id)) return
    const reading = await inTurn(() => readObject(provider, { id, ref }))
    if (reading?.contentHash === content_hash && reading.size === size_bytes) good.add(id)
    else if (reading) changed.add(filename)
  }

  return {
    async readAhead() {
      isOutdated = false
      const first = await readPage(db, locker_id, firstPageOf({}))
      for await (const files of pagesFrom(db, locker_id, first)) await Promise.all(files.map(check))
    },
    async findAbsent(objects) {
      const unread = objects.map(({ id }) => id).filter((id) => !good.has(id))
      if (unread.length === 0) return new Set()
      const files = await findFilesOfObjects(db, unread)
      await Promise.all(files.map(check))
      if (files.length < unread.length) isOutdated = true
      return new Set(unread.filter((id) => !good.has(id)))
    },
    changed: () => [...changed].sort(),
    isOutdated: () => isOutdated,
  }
}
