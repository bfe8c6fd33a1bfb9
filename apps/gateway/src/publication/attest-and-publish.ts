// Makes a statement and publishes it, for callers that wait for both.

import type { AttestAnswer, PushResult } from '@svc/api/attestations'
import { attCode } from '@svc/protocol/ids'
import { Answer, type JsonStream, type JsonText } from '@svc/service/http/answer'
import { ServiceError } from '@svc/service/service-error'
import type { ReceiptCaller } from '../auth/callers.ts'
import { lockerNotOpen } from '../auth/errors.ts'
import { limitSigner } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { attest, isPublishedLater, openLockerOf, publishesEach } from '../evidence/attest.ts'
import { queueAttest } from '../evidence/attest-job.ts'
import type { Attested } from '../evidence/record.ts'
import { findAttestation, findRecord } from '../evidence/store.ts'
import { answerInPieces, attestationPieces, publicStatus, verifyUrl } from '../evidence/view.ts'
import { publishNewest } from './push.ts'

/** `POST /v1/storage/attest`. */
export async function attestLocker(
  context: Context,
  { locker, receipt, signer }: ReceiptCaller,
  query: { sync?: boolean },
) {
  if (!locker) throw lockerNotOpen(receipt)
  await limitSigner(context, signer)
  if (!query.sync) return new Answer(202, await queueAttest(context, locker))
  const publish = publishesEach(context, locker)
  const attested = await attest(context, locker, { publish, isLimited: true })
  return attestAnswer(context, await publishAttested(context, attested, { publish }))
}

/** `POST /v1/internal/attest`. */
export async function attestInternally(
  context: Context,
  { receipt_id, force = false, push }: { receipt_id: string; force?: boolean; push?: boolean },
) {
  const locker = await openLockerOf(context, receipt_id)
  const publish = push ?? publishesEach(context, locker)
  const known = force ? await findAttestation(context.database.db, receipt_id) : null
  // A repeated call publishes the statement that the first call made.
  const isRepeated = publish && known !== null && isPublishedLater(known)
  const replacing = isRepeated ? undefined : (known?.sequence ?? undefined)
  const attested = await attest(context, locker, { replacing, publish })
  return attestAnswer(context, requireNoRetry(await publishAttested(context, attested, { publish })))
}

interface Published extends Attested {
  pushResult: PushResult
}

const NOT_PUSHED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'push_disabled',
  error: null,
}

/** Publishes a statement now if `publish` is set. The statement is valid even if publishing fails. */
async function publishAttested(
  context: Context,
  attested: Attested,
  { publish }: { publish: boolean },
): Promise<Published> {
  if (!publish) return { ...attested, pushResult: NOT_PUSHED }
  const { receiptId, sequence: attestedSequence } = attested.record
  const pushResult = await publishNewest(context, receiptId)
  // The anchor may belong to a newer statement. Our own anchors name the sequence.
  const sequence = (pushResult.anchor?.payload?.seq as number | undefined) ?? attestedSequence
  const record = (await findRecord(context.database.db, receiptId, sequence)) ?? attested.record
  return { ...attested, record, pushResult }
}

/** For callers that repeat a call after a 5xx (INT-05). A failure that only the admin can solve stays in the answer. */
function requireNoRetry(published: Published): Published {
  const { status, reason, error } = published.pushResult
  if (status !== 'failed' || !error?.retryable) return published
  throw new ServiceError('anchor_failed', `the statement was made but could not be published: ${reason}`, {
    hint: 'repeat the call with the same body: it publishes this statement and makes no other',
    headers: { 'retry-after': '60' },
    details: { ...error },
  })
}

/** The answer to a caller who requested a statement. */
function attestAnswer(
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
