// The job that attests a receipt, and the request that queues it.

import type { AttestQueued } from '@svc/api/attestations'
import { PermanentError } from '@svc/database/queue/queue'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { attest, isCurrent, openLockerOf, publishesEach } from './attest.ts'
import { reserveStatement, secondsToWait } from './budget.ts'
import { emptyFileList } from './errors.ts'
import { deletePending, findAttestation, hasConfirmedFile, insertPending } from './store.ts'
import { verifyUrl } from './view.ts'

export const ATTEST_ATTEMPTS = 10

const POLL_AFTER_SECONDS = 2

/** Until the job has run, a receipt without a statement has a pending stub (STATE-09). */
export async function queueAttest(context: Context, locker: Locker): Promise<AttestQueued> {
  const { receipt_id, locker_id } = locker
  const { jobId, status } = await context.database.commit(async (tx) => {
    if (!(await hasConfirmedFile(tx, locker_id))) throw emptyFileList()
    await insertPending(tx, { receipt_id, locker_id }, unixNow(context))
    const known = await findAttestation(tx, receipt_id)
    if (known && !isCurrent(known, locker)) reserveStatement(context, locker, known)
    const jobId = await context.queue.enqueue(tx, 'attest', { receipt_id }, { key: receipt_id })
    return { jobId, status: known?.status ?? 'complete' }
  })
  return {
    ok: true,
    receipt_id,
    locker_id,
    attestation_status: status === 'pushing' ? 'computed' : status,
    queued: true,
    job_id: jobId,
    push_result: null,
    verify_url: verifyUrl(context, receipt_id),
    poll_after_sec: POLL_AFTER_SECONDS,
  }
}

/** A run that is interrupted after its statement was written finds that statement next time and makes no second one. */
export async function runAttestJob(context: Context, receiptId: string, attempt: number): Promise<void> {
  try {
    const locker = await openLockerOf(context, receiptId)
    const publish = publishesEach(context, locker)
    const { record } = await attest(context, locker, { publish, isLimited: true })
    if (publish && !record.anchor) await queuePush(context, receiptId)
  } catch (error) {
    const delaySeconds = secondsToWait(error)
    if (delaySeconds !== null) return attestLater(context, receiptId, delaySeconds)
    const isPermanent = error instanceof ServiceError && error.status < 500
    if (!isPermanent && attempt < ATTEST_ATTEMPTS) throw error
    const hadStub = await context.database.commit((tx) => deletePending(tx, receiptId))
    // The files were confirmed and then deleted, and no caller requested a statement: not a failure.
    if (!hadStub && error instanceof ServiceError && error.code === 'EMPTY_FILE_LIST') return
    throw new PermanentError(error instanceof ServiceError ? error.code : String(error), { cause: error })
  }
}

/** A single statement covers all changes until then. */
async function attestLater({ database, queue }: Context, receipt_id: string, delaySeconds: number): Promise<void> {
  const options = { key: receipt_id, delaySeconds }
  await database.commit((tx) => queue.enqueue(tx, 'attest', { receipt_id }, options))
}

/** Needed for a statement that is still current (AMB-33), or that a caller made without publishing it. */
async function queuePush({ config, database, queue }: Context, receipt_id: string): Promise<void> {
  if (!config.anchors.isOn) return
  await database.commit((tx) => queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id }))
}
