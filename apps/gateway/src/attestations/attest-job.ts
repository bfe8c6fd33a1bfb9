import { ServiceError } from '@svc/http-service/service-error'
import { PermanentError } from '@svc/queue/queue'
import { attestReceipt } from './attest-receipt.ts'
import type { AttestationsContext } from './room.ts'
import { deletePending } from './store.ts'

export const ATTEST_ATTEMPTS = 10

/** Of a statement that is still right (AMB-33), or that was made for somebody who does not publish. */
async function queuePush({ database, publisher, queue }: AttestationsContext, receipt_id: string): Promise<void> {
  if (!publisher) return
  await database.db.transaction().execute((tx) => queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id }))
}

/** A run that is cut off after its statement was written finds it the next time, and makes no second one. */
export async function runAttestJob(context: AttestationsContext, receiptId: string, attempt: number): Promise<void> {
  try {
    const publish = context.config.anchors.isAutomatic
    const { record } = await attestReceipt(context, receiptId, { publish })
    if (publish && !record.anchor) await queuePush(context, receiptId)
  } catch (error) {
    const isPermanent = error instanceof ServiceError && error.status < 500
    if (!isPermanent && attempt < ATTEST_ATTEMPTS) throw error
    const isAwaited = await deletePending(context.database.db, receiptId)
    // Files that were confirmed and deleted at once: nobody asked for more than what there is.
    if (!isAwaited && error instanceof ServiceError && error.code === 'EMPTY_FILE_LIST') return
    throw new PermanentError(error instanceof ServiceError ? error.code : String(error), { cause: error })
  }
}
