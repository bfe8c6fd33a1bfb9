import type { Simulation } from '@svc/api/evidence'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import { attCode } from '@svc/protocol/ids'
import { attestationHint } from '../attestations/errors.ts'
import type { AttestationRecord } from '../attestations/record.ts'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'
import { readAttested } from './read-evidence.ts'

/** Answers what publishing the newest statement would write. It sends nothing. */
export async function simulateAttest(context: Context, receiptId: string, wire: WireRequest): Promise<Simulation> {
  await limitStranger(context, wire, receiptId)
  const { record } = await readAttested(context, receiptId)
  const simulation = simulationOf(context, record)
  if (simulation) return simulation
  throw new ServiceError('attestation_not_available', 'this record is older than statements that can be published', {
    hint: attestationHint(receiptId, false),
  })
}

/** Null for a record of the oracle era: it has no statement. */
export function simulationOf(
  { signers, config }: Context,
  { receiptId, record }: AttestationRecord,
): Simulation | null {
  if (!record.envelope) return null
  const payload = anchorPayload(record.envelope)
  return {
    receipt_id: receiptId,
    simulated: true,
    att_code: attCode(record.result_hash),
    result_hash: record.result_hash,
    would_write: {
      type: config.anchors.kind === 'registry' ? 'chain_sas_v1' : 'chain_memo_v2',
      payload: { ...payload },
      memo_bytes: anchorMemo(payload).length,
      signer: toBase58(signers.publication.publicKey),
    },
    on_chain_write: false,
  }
}
