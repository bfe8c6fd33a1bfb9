// What of a locker is attested: a snapshot of its confirmed files whose bytes are there, or are as they were confirmed.

import { limit } from '@svc/concurrency/locks'
import type { ServiceError } from '@svc/http-service/service-error'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { createObjectReader } from '../files/confirm/hash-object.ts'
import { storageError } from '../files/errors.ts'
import { bytesChanged, emptyFileList } from './attest-errors.ts'
import { createByteCheck } from './check-bytes.ts'
import type { Snapshot } from './snapshots/make-snapshot.ts'
import type { FindAbsent } from './snapshots/present-files.ts'
import { takeSnapshot } from './snapshots/take-snapshot.ts'

/** Answers why there is nothing to attest, where there is not. */
type ReadLocker = (locker: Locker) => Promise<Snapshot | ServiceError>

/** Each holds a connection while it reads, and needs a second: fewer than a half of those there are. */
const SNAPSHOTS_AT_ONCE = 4

export function createLockerReader(
  { database: { db }, providers, config }: Pick<Context, 'database' | 'providers' | 'config'>,
  databaseUrl: string,
): ReadLocker {
  const readObject = createObjectReader(providers)
  const inTurn = limit(SNAPSHOTS_AT_ONCE)

  const snapshotOf = ({ locker_id: lockerId }: Locker, findAbsent: FindAbsent) =>
    inTurn(() => takeSnapshot({ db, databaseUrl, lockerId, findAbsent }))

  async function readAsRecorded(locker: Locker): Promise<Snapshot | ServiceError> {
    const provider = providers.named(locker.provider)
    return (await snapshotOf(locker, (objects) => provider.absent(objects))) ?? emptyFileList()
  }

  async function readBytes(locker: Locker): Promise<Snapshot | ServiceError> {
    const check = createByteCheck(db, locker, readObject)
    let snapshot: Snapshot | null
    do {
      await check.readAhead()
      snapshot = check.changed().length > 0 ? null : await snapshotOf(locker, check.findAbsent)
      if (check.changed().length > 0) return bytesChanged(check.changed())
      // Again, then, with little left to read: what was read once is not read twice.
    } while (check.isOutdated())
    return snapshot ?? emptyFileList()
  }

  const read = config.attestations.checkMode === 'bytes_hashed' ? readBytes : readAsRecorded
  return async (locker) => {
    try {
      return await read(locker)
    } catch (error) {
      throw storageError(error)
    }
  }
}
