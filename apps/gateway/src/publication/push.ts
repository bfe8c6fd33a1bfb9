// Publishes the newest statement of a receipt: on request, and in a job.

import type { PushAnswer, PushResult } from '@svc/api/attestations'
import { type JobRun, PermanentError } from '@svc/database/queue/queue'
import { ServiceError } from '@svc/service/service-error'
import { type ReceiptCaller, receiptMismatch } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { notAttested } from '../evidence/errors.ts'
import { findAttestation, findRecord } from '../evidence/store.ts'
import { queueEntry } from './evm-registry/entries.ts'
import { type Publishable, published, publishStatement } from './statements.ts'

/** `POST /v1/attest/push`. */
export async function push(
  context: Context,
  { receipt, signer }: ReceiptCaller,
  { receipt_id }: { receipt_id: string },
): Promise<PushAnswer> {
  if (receipt_id !== receipt.receipt_id) throw receiptMismatch('the envelope names a different receipt than the body')
  await limitSigner(context, signer)
  const result = await publishNewest(context, receipt_id)
  if (result.status === 'failed') throw anchorFailed(result)
  const current = await findAttestation(context.database.db, receipt_id)
  const attestation_status = current?.status === 'complete' ? 'complete' : 'computed'
  return { ok: true, receipt_id, ...result, attestation_status }
}

const SKIPPED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'no_feed_configured',
  error: null,
}

/** Concurrent callers share one transaction. */
export async function publishNewest(context: Context, receiptId: string): Promise<PushResult> {
  const { database, primaryChain, pushes } = context
  const record = await findRecord(database.db, receiptId)
  // Records of the oracle era have no statement to publish.
  if (!record?.record.envelope) throw await nothingToPublish(context, receiptId)
  if (record.anchor) return published('already_anchored', record.anchor)
  const { sequence } = record
  if (!primaryChain) {
    await database.commit((tx) => queueEntry(tx, context, { receipt_id: receiptId, sequence }, 0))
    return SKIPPED
  }
  const result = await pushes(`${receiptId} ${sequence}`, () =>
    publishStatement(context, primaryChain, record as Publishable),
  )
  return result === 'superseded' ? publishNewest(context, receiptId) : result
}

async function nothingToPublish({ database }: Context, receiptId: string): Promise<ServiceError> {
  const known = await findAttestation(database.db, receiptId)
  return notAttested(receiptId, { isPending: known?.status === 'pending' })
}

function anchorFailed({ error, reason }: PushResult): ServiceError {
  const hint = error?.ambiguous
    ? 'the transaction may still land: repeat the push, which checks it first and pays for nothing twice'
    : error?.retryable
      ? 'the statement is stored and will be published later; to publish it sooner, repeat the push'
      : 'the statement is stored; the admin of this gateway has to check its registry'
  return new ServiceError('anchor_failed', `the statement could not be published: ${reason}`, {
    hint,
    details: { ...error },
  })
}

export const PUSH_ATTEMPTS = 12

/**
 * Rethrows a retryable error unchanged, so that the queue repeats the job; a repeated push first resolves what was
 * sent. After the last attempt the watch of statements continues, because the statement is recorded as due.
 */
export async function runPushJob(
  context: Context,
  receiptId: string,
  { isLast }: Pick<JobRun, 'isLast'>,
): Promise<void> {
  const { status, error } = await publishNewest(context, receiptId)
  if (status !== 'failed') return
  const problem = error?.error ?? 'not published'
  if (!error?.retryable) throw new PermanentError(problem)
  if (!isLast) throw new Error(problem)
  context.log.warn({ error: problem }, 'a statement could not be published; it stays due and will be published later')
}
