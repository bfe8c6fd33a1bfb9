import type { AttestAnswer, PushResult } from '@svc/api/attestations'
import type { JsonStream, JsonText } from '@svc/http-service/answer'
import { attCode } from '@svc/protocol/ids'
import type { Context } from '../context.ts'
import type { Attested } from './attest.ts'
import { answerInPieces, attestationPieces, publicStatus } from './view.ts'

/** As it is answered where nothing is published. */
const NOT_PUSHED: PushResult = {
  status: 'skipped',
  anchor: null,
  anchor_type: null,
  reason: 'push_disabled',
  error: null,
}

export async function attestAnswer(
  context: Context,
  attested: Attested,
): Promise<JsonText<AttestAnswer> | JsonStream<AttestAnswer>> {
  return answerInPieces(attested.record, pieces(context, attested))
}

async function* pieces(context: Context, { record: of, isNew }: Attested): AsyncGenerator<string> {
  const { receiptId: receipt_id, lockerId: locker_id, record } = of
  const head: Omit<AttestAnswer, 'attestation' | 'attestation_status'> = {
    ok: true,
    receipt_id,
    locker_id,
    ...publicStatus(of),
    unchanged: !isNew,
    att_code: attCode(record.result_hash),
    push_result: NOT_PUSHED,
    verify_url: verifyUrl(context, receipt_id),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"attestation":`
  yield* attestationPieces(context, of)
  yield '}'
}

export function verifyUrl({ config }: Context, receiptId: string): string {
  return `${config.http.baseUrl}/v1/storage/verify?receipt_id=${encodeURIComponent(receiptId)}`
}
