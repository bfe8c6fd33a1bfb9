// Attests a locker: one version of its manifest becomes the next statement of its receipt.

import { ServiceError } from '@svc/service/service-error'
import { lockerNotFound, lockerNotOpen, receiptNotFound } from '../auth/errors.ts'
import { findReceiptAndLocker } from '../auth/store.ts'
import type { Context } from '../context.ts'
import type { AttestationTable, Locker } from '../db/schema.ts'
import { findLockerOf } from '../files/store.ts'
import { reserveStatement } from './budget.ts'
import { readLocker } from './read-locker.ts'
import type { Attested } from './record.ts'
import { addStatement, documentIdsOf } from './statements.ts'
import { findAttestation, findRecord } from './store.ts'

interface AttestOptions {
  /** The sequence of a statement that gets a successor even if nothing has changed since. */
  replacing?: number | undefined
  /** Queue a job that publishes the statement, in the transaction that writes it. */
  publish?: boolean
  /** Refuse a statement beyond the daily limit of the locker. */
  isLimited?: boolean
}

/** The result of a run, which every caller that waited for it shares. */
export interface AttestRun {
  /** The manifest version before the locker was read. The run includes at least this version. */
  basis: number
  outcome: Attested | ServiceError
}

/** Returns the newest statement, which is a new one if the locker has changed. */
export async function attest(
  context: Context,
  { locker_id, receipt_id }: Pick<Locker, 'locker_id' | 'receipt_id'>,
  { replacing, publish = false, isLimited = false }: AttestOptions = {},
): Promise<Attested> {
  const { database, continuity, attestRuns } = context
  const locker = await findLockerOf(database.db, { locker_id })
  if (!locker) throw lockerNotFound()
  await continuity.requireCurrent()
  for (;;) {
    const known = await findAttestation(database.db, receipt_id)
    if (known && isCurrent(known, locker) && known.sequence !== replacing) {
      return written(context, { record: (await findRecord(database.db, receipt_id))!, isNew: false })
    }
    // A caller that requires a new statement does not share a run that may find nothing new or that may be refused.
    const { basis, outcome } = await attestRuns(`${receipt_id} ${replacing} ${isLimited}`, () =>
      run(context, locker, known, { replacing, publish, isLimited }),
    )
    // A shared run may have started before the last change that this caller knows.
    if (basis < locker.manifest_version) continue
    if (outcome instanceof ServiceError) throw outcome
    return written(context, outcome)
  }
}

async function run(
  context: Context,
  locker: Locker,
  known: AttestationTable | null,
  { replacing, publish, isLimited }: Required<AttestOptions>,
): Promise<AttestRun> {
  const basis = locker.manifest_version
  // An early check, before the work. The transaction that writes the statement decides.
  if (isLimited && known) reserveStatement(context, locker, known)
  const snapshot = await readLocker(context, locker)
  if (snapshot instanceof ServiceError) return { basis, outcome: snapshot }
  const work = { snapshot, replacing: known?.sequence ?? null, force: replacing ?? null, publish, isLimited }
  return { basis, outcome: await addStatement(context, locker, work) }
}

/** A statement that another process committed may not be in the journal yet. */
async function written({ continuity }: Context, attested: Attested): Promise<Attested> {
  if (!attested.isNew) await continuity.requireWritten(...documentIdsOf(attested.record))
  return attested
}

/** Whether the newest statement describes the present contents of the locker. */
export function isCurrent({ sequence, manifest_version }: AttestationTable, locker: Locker): boolean {
  return sequence !== null && manifest_version !== null && manifest_version >= locker.manifest_version
}

/** Whether publishing the newest statement failed for a temporary reason. */
export function isPublishedLater({ anchor_error, push_at }: AttestationTable): boolean {
  return anchor_error !== null && push_at !== null
}

/** For callers that have only a receipt id. */
export async function openLockerOf({ database }: Pick<Context, 'database'>, receiptId: string): Promise<Locker> {
  const found = await findReceiptAndLocker(database.db, receiptId)
  if (!found) throw receiptNotFound()
  if (!found.locker) throw lockerNotOpen(found.receipt)
  return found.locker
}

/**
 * Whether the gateway publishes each statement of the locker without a request. Its owner may choose to rely on the log
 * instead.
 */
export function publishesEach({ config }: Pick<Context, 'config'>, { anchoring }: Pick<Locker, 'anchoring'>): boolean {
  return config.anchors.isAutomatic && anchoring === 'each'
}
