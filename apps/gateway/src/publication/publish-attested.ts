import type { AttestAnswer, PushResult } from '@svc/api/attestations'
import { attCode } from '@svc/protocol/ids'
import type { JsonStream, JsonText } from '@svc/service/http/answer'
import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../context.ts'
import type { Attested } from '../evidence/record.ts'
import { findRecord } from '../evidence/store.ts'
import { answerInPieces, attestationPieces, publicStatus, verifyUrl } from '../evidence/view.ts'

export interface Published extends Attested {
  pushResult: PushResult
}

const NOT_PUSHED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'push_disabled',
  error: null,
}

/** Publishes a statement now, if `publish` is set. The statement stands even if publishing fails. */
export async function publishAttested(
  context: Pick<Context, 'database' | 'push'>,
  attested: Attested,
  { publish }: { publish: boolean },
): Promise<Published> {
  if (!publish) return { ...attested, pushResult: NOT_PUSHED }
  const { receiptId, sequence: attestedSequence } = attested.record
  const pushResult = await context.push(receiptId)
  // The anchor may be of a newer statement. Our own anchors name the sequence.
  const sequence = (pushResult.anchor?.payload?.seq as number | undefined) ?? attestedSequence
  const record = (await findRecord(context.database.db, receiptId, sequence)) ?? attested.record
  return { ...attested, record, pushResult }
}

/** For callers that repeat a call which answers 5xx (INT-05). What only the operator can help stays in the answer. */
export function requireNoRetry(published: Published): Published {
  const { status, reason, error } = published.pushResult
  if (status !== 'failed' || !error?.retryable) return published
  throw new ServiceError('anchor_failed', `the statement is made, and could not be published: ${reason}`, {
    hint: 'call again, with the same body: the statement is published, and no other is made in its place',
    headers: { 'retry-after': '60' },
    details: { ...error },
  })
}

/** The answer to a caller who asked for a statement. */
export function attestAnswer(
  context: Context,
  published: Published,
): Promise<JsonText<AttestAnswer> | JsonStream<AttestAnswer>> {
  return answerInPieces(published.record, attestAnswerPieces(context, published))
}

async function* attestAnswerPieces(
  context: Context,
  { record: of, isNew, pushResult }: Published,
): AsyncGenerator<string> {
  const { receiptId: receipt_id, lockerId: locker_id, record } = of
  const head: Omit<AttestAnswer, 'attestation' | 'attestation_status'> = {
    ok: true,
    receipt_id,
    locker_id,
    ...publicStatus(of),
    unchanged: !isNew,
    att_code: attCode(record.result_hash),
    push_result: pushResult,
    verify_url: verifyUrl(context, receipt_id),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"attestation":`
  yield* attestationPieces(context, of)
  yield '}'
}
