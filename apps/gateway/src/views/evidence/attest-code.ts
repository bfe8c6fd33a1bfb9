// Attestation codes: `GET /v1/attest-code` for anyone, and `GET /v1/attest-code/jwt` for the holder of a token.

import type { ResponseBody } from '@svc/api/endpoint'
import type { attestCodeByToken } from '@svc/api/evidence'
import { bare, isHex, withPrefix } from '@svc/protocol/bytes'
import { attCode } from '@svc/protocol/ids'
import type { WireRequest } from '@svc/service/http/wire-request'
import { ServiceError } from '@svc/service/service-error'
import { limitAnonymous } from '../../auth/limits.ts'
import type { TokenReader } from '../../auth/oidc.ts'
import type { Context } from '../../context.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { answerInPieces, attestationPieces } from '../../evidence/view.ts'
import { type Evidence, readEvidence } from './read-evidence.ts'
import { simulationOf } from './simulate-attest.ts'

/** The receipt's own result hash comes first, unless the caller names a statement. */
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

export interface ReceiptToken {
  receiptId: string
  token: { iss: string; exp: number }
}

/** The issuer of a token decides which receipt its holder may read (ATT-14). */
export async function readReceiptToken(
  context: Context,
  receiptTokens: TokenReader | null,
  wire: WireRequest,
): Promise<ReceiptToken> {
  await limitAnonymous(context, wire, null)
  if (!receiptTokens) throw tokensNotConfigured()
  const { iss, exp, receipt_id } = await receiptTokens.readClaims(wire.headers.authorization)
  if (!isStorableText(receipt_id)) throw receiptTokens.invalid('has no valid claim "receipt_id"')
  // The token reader requires both claims.
  return { receiptId: receipt_id, token: { iss: iss as string, exp: exp as number } }
}

/** Databases refuse lone surrogates and NUL. */
function isStorableText(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.isWellFormed() && !claim.includes('\0')
}

/** The code, the complete attestation and its simulation in one answer. */
export async function readByToken(context: Context, { receiptId, token }: ReceiptToken) {
  const { record } = await readEvidence(context, receiptId)
  if (!record) throw missingResultHash(receiptId)
  return answerInPieces<ResponseBody<typeof attestCodeByToken>>(record, pieces(context, record, token))
}

async function* pieces(context: Context, record: AttestationRecord, token: ReceiptToken['token']) {
  const { receiptId, record: statement } = record
  const { result_hash } = statement
  const head = {
    receipt_id: receiptId,
    att_code: attCode(result_hash),
    result_hash,
    simulation: await simulationOf(context, record),
    token,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"attestation":`
  yield* attestationPieces(context, record)
  yield '}'
}

/**
 * The code suggests "run verify first", but verify computes nothing, so the hint names the endpoint that attests
 * (ATT-15).
 */
function missingResultHash(receiptId: string): ServiceError {
  return new ServiceError(
    'missing_result_hash_run_storage_verify_first',
    'neither the receipt nor an attestation has a result hash',
    { hint: `attest first: POST /v1/storage/attest?receipt_id=${encodeURIComponent(receiptId)}` },
  )
}

function tokensNotConfigured(): ServiceError {
  return new ServiceError('BEARER_TOKEN_INVALID', 'this gateway accepts no tokens: no issuer is configured', {
    hint: 'its admin can set ATTEST_JWT; GET /v1/attest-code needs no token',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
