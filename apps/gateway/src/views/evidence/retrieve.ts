// Evidence in the format of oracles: `GET /v1/retrieve` and `GET /v1/retrieve/payment`.

import type { Retrieved } from '@svc/api/evidence'
import { withPrefix } from '@svc/protocol/bytes'
import { attCode, paymentAttCode } from '@svc/protocol/ids'
import type { WireRequest } from '@svc/service/http/wire-request'
import { limitAnonymous } from '../../auth/limits.ts'
import type { Context } from '../../context.ts'
import { attest, openLockerOf } from '../../evidence/attest.ts'
import { notAttested } from '../../evidence/errors.ts'
import type { StoredFile } from '../../evidence/snapshots/chunk-content.ts'
import { answerInPieces, publicStatus, withFiles } from '../../evidence/view.ts'
import { readReceipt } from '../../purchases/receipts.ts'
import { type Attested, factsOf, limitLong, readAttested, readEvidence } from './read-evidence.ts'

/** Anyone may read a statement. If there is none, one is computed for callers who may request that. */
export async function retrieve(
  context: Context,
  wire: WireRequest,
  { receipt_id, sequence }: { receipt_id: string; sequence?: number },
) {
  const { record, ...evidence } = await readEvidence(context, receipt_id, sequence)
  const attested = record ? { ...evidence, record } : await computeFirst(context, receipt_id, evidence, wire)
  await limitLong(context, wire, record)
  return answerInPieces<Retrieved>(attested.record, pieces(context, attested))
}

async function computeFirst(
  context: Context,
  receiptId: string,
  { isPending }: { isPending: boolean },
  wire: WireRequest,
) {
  await limitAnonymous(context, wire, receiptId)
  if (!context.auth.mayCompute(wire)) throw notAttested(receiptId, { isPending })
  await attest(context, await openLockerOf(context, receiptId))
  return readAttested(context, receiptId)
}

async function* pieces(context: Context, attested: Attested): AsyncGenerator<string> {
  const { record: of } = attested
  const { result_hash, merkle_root, file_count, total_bytes } = of.record
  const head = {
    receipt_id: of.receiptId,
    att_code: attCode(result_hash),
    result_hash,
    merkle_root,
    ...publicStatus(of),
    anchor: of.anchor,
    verification: await factsOf(context, attested),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"manifest":`
  yield* withFiles({ locker_id: of.lockerId, file_count, total_bytes }, of, context, manifestFile)
  yield '}'
}

function manifestFile({ nameAndSize, contentHash }: StoredFile): string {
  return `{${nameAndSize},"content_hash":"${withPrefix(contentHash)}"}`
}

export async function retrievePayment(context: Context, receiptId: string) {
  const receipt = await readReceipt(context, receiptId)
  const { receipt_id, network, tx_hash, paid_raw, paid_amount, pay_asset, payer_pubkey, confirmed_at } = receipt
  const att_code = paymentAttCode(receipt)
  return { receipt_id, att_code, chain: network, tx_hash, paid_raw, paid_amount, pay_asset, payer_pubkey, confirmed_at }
}
