import { ServiceError } from '@svc/http-service/service-error'
import { bare, isHex, withPrefix } from '@svc/protocol/bytes'
import { attCode } from '@svc/protocol/ids'
import type { Context } from '../context.ts'
import { type Evidence, readEvidence } from './read-evidence.ts'

/** The receipt's own hash comes first, where it has one; a statement that is asked for is what is meant. */
export async function readAttestCode(
  context: Context,
  { receipt_id, sequence }: { receipt_id: string; sequence?: number },
) {
  const evidence = await readEvidence(context, receipt_id, sequence)
  const ofReceipt = sequence === undefined ? receiptHash(evidence) : null
  const result_hash = ofReceipt ?? evidence.record?.record.result_hash
  if (!result_hash) throw missingResultHash(receipt_id)
  const source = ofReceipt ? ('receipt' as const) : ('attestation' as const)
  return { receipt_id, att_code: attCode(result_hash), result_hash, source }
}

function receiptHash({ receipt }: Evidence): string | null {
  return isHex(bare(receipt.result_hash), 32) ? withPrefix(bare(receipt.result_hash)) : null
}

/** Verifying computes nothing, whatever the code says (AMB-40). */
export function missingResultHash(receiptId: string): ServiceError {
  return new ServiceError(
    'missing_result_hash_run_storage_verify_first',
    'neither the receipt nor an attestation has a result hash',
    { hint: `attest first: POST /v1/storage/attest?receipt_id=${encodeURIComponent(receiptId)}` },
  )
}
