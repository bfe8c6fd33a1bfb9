// Attests a locker: one version of its manifest becomes the next statement of its receipt.

import { singleFlight } from '@svc/concurrency/sharing'
import { ServiceError } from '@svc/service/service-error'
import { lockerNotFound, lockerNotOpen, receiptNotFound } from '../auth/errors.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import type { Context } from '../context.ts'
import type { AttestationTable, Locker } from '../db/schema.ts'
import { findLockerOf } from '../files/store.ts'
import { takeStatement } from './budget.ts'
import { createLockerReader } from './read-locker.ts'
import type { Attested } from './record.ts'
import { addStatement, noteOf } from './statements.ts'
import { findAttestation, findRecord } from './store.ts'

interface AttestOptions {
  /** The sequence of a statement that gets a successor even if nothing has changed since. */
  replacing?: number | undefined
  /** Queue a job that publishes the statement, in the transaction that writes it. */
  publish?: boolean
  /** Refuse a statement beyond those that the locker has in a day. */
  isLimited?: boolean
}

/** Returns the newest statement, which is a new one if the locker has changed. */
export type Attest = (locker: Pick<Locker, 'locker_id' | 'receipt_id'>, options?: AttestOptions) => Promise<Attested>

/** The result of a run, which every caller that waited for it shares. */
interface Run {
  /** The manifest version before the locker was read. The run includes at least this version. */
  basis: number
  outcome: Attested | ServiceError
}

export function createAttest(parts: Context, databaseUrl: string): Attest {
  const { db } = parts.database
  const readLocker = createLockerReader(parts, databaseUrl)
  const share = singleFlight<Run>()

  async function run(
    locker: Locker,
    known: AttestationTable | null,
    { replacing, publish, isLimited }: Required<AttestOptions>,
  ): Promise<Run> {
    const basis = locker.manifest_version
    // Before the work is done. It is decided when the statement is written.
    if (isLimited && known) takeStatement(parts, locker, known)
    const snapshot = await readLocker(locker)
    if (snapshot instanceof ServiceError) return { basis, outcome: snapshot }
    const work = { snapshot, replacing: known?.sequence ?? null, force: replacing ?? null, publish, isLimited }
    return { basis, outcome: await addStatement(parts, locker, work) }
  }

  /** What another process committed may not be in the journal yet. */
  async function written(attested: Attested): Promise<Attested> {
    if (!attested.isNew) await parts.continuity.requireWritten(...noteOf(attested.record))
    return attested
  }

  return async ({ locker_id, receipt_id }, { replacing, publish = false, isLimited = false } = {}) => {
    const locker = await findLockerOf(db, { locker_id })
    if (!locker) throw lockerNotFound()
    await parts.continuity.requireCurrent()
    for (;;) {
      const known = await findAttestation(db, receipt_id)
      if (known && isCurrent(known, locker) && known.sequence !== replacing) {
        return written({ record: (await findRecord(db, receipt_id))!, isNew: false })
      }
      // A caller who wants a successor does not share a run that may find nothing new, nor one that may be refused.
      const { basis, outcome } = await share(`${receipt_id} ${replacing} ${isLimited}`, () =>
        run(locker, known, { replacing, publish, isLimited }),
      )
      // A shared run may have begun before the last change that this caller knows of.
      if (basis < locker.manifest_version) continue
      if (outcome instanceof ServiceError) throw outcome
      return written(outcome)
    }
  }
}

/** Whether the newest statement describes what the locker holds now. */
export function isCurrent({ sequence, manifest_version }: AttestationTable, locker: Locker): boolean {
  return sequence !== null && manifest_version !== null && manifest_version >= locker.manifest_version
}

/** Whether the newest statement could not be published, for a passing reason. */
export function isPublishedLater({ anchor_error, push_at }: AttestationTable): boolean {
  return anchor_error !== null && push_at !== null
}

/** For callers that have only a receipt's id. */
export async function openLockerOf({ database }: Pick<Context, 'database'>, receiptId: string): Promise<Locker> {
  const found = await findReceiptAndLocker(database.db, receiptId)
  if (!found) throw receiptNotFound()
  if (!found.locker) throw lockerNotOpen(found.receipt)
  return found.locker
}

/** Whether the gateway publishes each statement of the locker without a request; its owner may leave that to the log. */
export function publishesEach({ config }: Pick<Context, 'config'>, { anchoring }: Pick<Locker, 'anchoring'>): boolean {
  return config.anchors.isAutomatic && anchoring === 'each'
}
