// Reads the contents of a locker for a statement: a snapshot of the confirmed files whose bytes are present or, if the
// gateway is configured to hash bytes, match their confirmed hashes.

import { type Limit, limit } from '@svc/concurrency/locks'
import type { ServiceError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import type { Db, Locker } from '../db/schema.ts'
import { createObjectReader, type HashObject } from '../files/confirm/hash-object.ts'
import { storageError } from '../files/errors.ts'
import { firstPageOf, pagesFrom, readPage } from '../files/lists/file-pages.ts'
import type { ListedFile } from '../files/lists/store.ts'
import { bytesChanged, emptyFileList } from './errors.ts'
import type { FindAbsent, Snapshot } from './snapshots/make-snapshot.ts'
import { takeSnapshot } from './snapshots/take-snapshot.ts'
import { findFilesOfObjects } from './store.ts'

/** Each uses one database connection while it reads and needs a second: less than half of the pool. */
const MAX_CONCURRENT_SNAPSHOTS = 4

/** How lockers are read for their statements. */
export interface LockerReading {
  /** Where the threads of large snapshots connect to. */
  databaseUrl: string
  readObject: HashObject
  /** Limits concurrent snapshots. */
  limited: Limit
}

export function openLockerReading(providers: Context['providers'], databaseUrl: string): LockerReading {
  return { databaseUrl, readObject: createObjectReader(providers), limited: limit(MAX_CONCURRENT_SNAPSHOTS) }
}

/** Returns an error if there is nothing to attest. */
export async function readLocker(context: Context, locker: Locker): Promise<Snapshot | ServiceError> {
  const isHashing = context.config.attestations.checkMode === 'bytes_hashed'
  try {
    return await (isHashing ? readBytes(context, locker) : readRecordedHashes(context, locker))
  } catch (error) {
    throw storageError(error)
  }
}

async function readRecordedHashes(context: Context, locker: Locker): Promise<Snapshot | ServiceError> {
  const provider = context.providers.named(locker.provider)
  return (await snapshotOf(context, locker, (objects) => provider.absent(objects))) ?? emptyFileList()
}

async function readBytes(context: Context, locker: Locker): Promise<Snapshot | ServiceError> {
  const check = createByteCheck(context.database.db, locker, context.lockerReading.readObject)
  let snapshot: Snapshot | null
  do {
    await check.readAhead()
    snapshot = check.changed().length > 0 ? null : await snapshotOf(context, locker, check.findAbsent)
    if (check.changed().length > 0) return bytesChanged(check.changed())
    // The next round is short: it reads only new objects.
  } while (check.isOutdated())
  return snapshot ?? emptyFileList()
}

function snapshotOf(
  { database: { db, commit }, lockerReading: { databaseUrl, limited } }: Context,
  { locker_id: lockerId }: Locker,
  findAbsent: FindAbsent,
): Promise<Snapshot | null> {
  return limited(() => takeSnapshot({ db, commit, databaseUrl, lockerId, findAbsent }))
}

/** Hashes the bytes of all files to attest, and compares them with the recorded hashes (EVID-13). */
interface ByteCheck {
  /**
   * Reads the files that the locker lists at present. This may take hours, with no open transaction. Files that arrive
   * meanwhile are read with the snapshot.
   */
  readAhead(): Promise<void>
  /** For a snapshot. An object whose bytes cannot be read is absent. */
  findAbsent: FindAbsent
  /** Files whose bytes differ from the recorded hash. */
  changed(): string[]
  /** Whether the snapshot has a file that was replaced before its bytes could be compared. */
  isOutdated(): boolean
}

/** Fewer than the object reader allows, so that a second locker need not wait. */
const MAX_CONCURRENT_READS = 4

function createByteCheck(db: Db, { locker_id, provider }: Locker, readObject: HashObject): ByteCheck {
  /** Objects are immutable, so each is read once per run. */
  const good = new Set<string>()
  const changed = new Set<string>()
  let isOutdated = false
  const limited = limit(MAX_CONCURRENT_READS)

  async function check({ filename, object_id: id, provider_ref: ref, size_bytes, content_hash }: ListedFile) {
    if (id === null || content_hash === null || good.has(id)) return
    const reading = await limited(() => readObject(provider, { id, ref }))
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
