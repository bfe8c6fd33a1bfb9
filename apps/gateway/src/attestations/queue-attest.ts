import type { AttestQueued } from '@svc/api/attestations'
import { type Context, unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { verifyUrl } from './attest-answer.ts'
import { emptyFileList } from './attest-errors.ts'
import { findAttestation, hasConfirmedFile, insertPending } from './store.ts'

const POLL_AFTER_SECONDS = 2

/** Has the work done later; until then a receipt without a statement has a stub that says so (STATE-09). */
export async function queueAttest(context: Context, { receipt_id, locker_id }: Locker): Promise<AttestQueued> {
  const { jobId, status } = await context.database.db.transaction().execute(async (tx) => {
    if (!(await hasConfirmedFile(tx, locker_id))) throw emptyFileList()
    await insertPending(tx, { receipt_id, locker_id }, unixNow(context))
    const known = await findAttestation(tx, receipt_id)
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
