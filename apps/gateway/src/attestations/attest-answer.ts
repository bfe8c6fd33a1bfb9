import type { AttestAnswer, PushResult } from '@svc/api/attestations'
import type { JsonStream, JsonText } from '@svc/http-service/answer'
import { attCode } from '@svc/protocol/ids'
import type { Context } from '../context.ts'
import type { Attested } from './record.ts'
import type { AttestationsContext } from './room.ts'
import { findRecord } from './store.ts'
import { answerInPieces, attestationPieces, publicStatus } from './view.ts'

/** As it is answered where attesting does not publish. */
const NOT_PUSHED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'push_disabled',
  error: null,
}

/** Publishes what was attested, where that is wanted. A statement that could not be published is there all the same. */
export async function attestAnswer(
  context: AttestationsContext,
  attested: Attested,
  { publish }: { publish: boolean },
): Promise<JsonText<AttestAnswer> | JsonStream<AttestAnswer>> {
  if (!publish) return answerInPieces(attested.record, pieces(context, attested, NOT_PUSHED))
  const { receiptId, sequence: attestedSequence } = attested.record
  const result = await context.push(receiptId)
  // Our own anchors say which statement they are of; there may be a newer one by now.
  const sequence = (result.anchor?.payload?.seq as number | undefined) ?? attestedSequence
  const record = (await findRecord(context.database.db, receiptId, sequence)) ?? attested.record
  return answerInPieces(record, pieces(context, { ...attested, record }, result))
}

async function* pieces(
  context: Context,
  { record: of, isNew }: Attested,
  push_result: PushResult,
): AsyncGenerator<string> {
  const { receiptId: receipt_id, lockerId: locker_id, record } = of
  const head: Omit<AttestAnswer, 'attestation' | 'attestation_status'> = {
    ok: true,
    receipt_id,
    locker_id,
    ...publicStatus(of),
    unchanged: !isNew,
    att_code: attCode(record.result_hash),
    push_result,
    verify_url: verifyUrl(context, receipt_id),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"attestation":`
  yield* attestationPieces(context, of)
  yield '}'
}

export function verifyUrl({ config }: Context, receiptId: string): string {
  return `${config.http.baseUrl}/v1/storage/verify?receipt_id=${encodeURIComponent(receiptId)}`
}
