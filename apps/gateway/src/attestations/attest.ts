// Commits to what a locker holds: one version of its manifest becomes the next statement of its receipt.

import { singleFlight } from '@svc/concurrency/sharing'
import { ServiceError } from '@svc/http-service/service-error'
import { lockerNotFound } from '../auth/callers.ts'
import type { Context } from '../context.ts'
import type { AttestationTable, Locker } from '../db/schema.ts'
import { findLockerOf } from '../files/store.ts'
import type { Publishing } from './publishing.ts'
import { createLockerReader } from './read-locker.ts'
import type { Attested } from './record.ts'
import { findAttestation, findRecord } from './store.ts'
import { writeStatement } from './write-statement.ts'

interface AttestOrder {
  /** The sequence of a statement that is to have a successor also when nothing has changed since. */
  replacing?: number | undefined
  /** Whether it is to be published, too: that is noted with the statement, and done by a job at the latest. */
  publish?: boolean
}

export type Attest = (locker: Pick<Locker, 'locker_id' | 'receipt_id'>, order?: AttestOrder) => Promise<Attested>

type Parts = Context & Pick<Publishing, 'publisher' | 'queueEntry'>

/** What a run came to, for all who waited for it. */
interface Run {
  /** The version of the manifest before it was read: the run knows of this one at least. */
  basis: number
  outcome: Attested | ServiceError
}

export function createAttest(parts: Parts, databaseUrl: string): Attest {
  const { db } = parts.database
  const readLocker = createLockerReader(parts, databaseUrl)
  const share = singleFlight<Run>()

  async function run(locker: Locker, known: AttestationTable | null, publish: boolean): Promise<Run> {
    const basis = locker.manifest_version
    const snapshot = await readLocker(locker)
    if (snapshot instanceof ServiceError) return { basis, outcome: snapshot }
    const work = { snapshot, replacing: known?.sequence ?? null, publish }
    return { basis, outcome: await db.transaction().execute((tx) => writeStatement(tx, parts, locker, work)) }
  }

  return async ({ locker_id, receipt_id }, { replacing, publish = false } = {}) => {
    const locker = await findLockerOf(db, { locker_id })
    if (!locker) throw lockerNotFound()
    for (;;) {
      const known = await findAttestation(db, receipt_id)
      if (known && isAbout(known, locker) && known.sequence !== replacing) {
        return { record: (await findRecord(db, receipt_id))!, isNew: false }
      }
      const { basis, outcome } = await share(receipt_id, () => run(locker, known, publish))
      // Somebody else's run may have begun before the last change that this caller knows of.
      if (basis < locker.manifest_version) continue
      if (outcome instanceof ServiceError) throw outcome
      return outcome
    }
  }
}

/** Whether the newest statement is about what the locker holds. */
function isAbout({ sequence, manifest_version }: AttestationTable, locker: Locker): boolean {
  return sequence !== null && manifest_version !== null && manifest_version >= locker.manifest_version
}
