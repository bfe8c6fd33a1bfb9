import type { ResponseBody } from '@svc/api/endpoint'
import type { attestCodeByToken } from '@svc/api/evidence'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import { attCode } from '@svc/protocol/ids'
import type { AttestationRecord } from '../attestations/record.ts'
import { answerInPieces, attestationPieces } from '../attestations/view.ts'
import { limitStranger } from '../auth/limits.ts'
import type { TokenReader } from '../auth/oidc.ts'
import type { Context } from '../context.ts'
import { missingResultHash } from './attest-code.ts'
import { readEvidence } from './read-evidence.ts'
import { simulationOf } from './simulate.ts'

export interface ReceiptToken {
  receiptId: string
  token: { iss: string; exp: number }
}

/** Whoever issues these tokens says which receipt their holder may ask about (AMB-77). */
export async function readReceiptToken(
  context: Context,
  receiptTokens: TokenReader | null,
  wire: WireRequest,
): Promise<ReceiptToken> {
  await limitStranger(context, wire, null)
  if (!receiptTokens) throw notConfigured()
  const { iss, exp, receipt_id } = await receiptTokens.readClaims(wire.headers.authorization)
  if (!isStorableText(receipt_id)) throw receiptTokens.invalid('has no good claim "receipt_id"')
  // Both are required of every token that is read.
  return { receiptId: receipt_id, token: { iss: iss as string, exp: exp as number } }
}

/** A claim may hold what no database can look for. */
function isStorableText(claim: unknown): claim is string {
  return typeof claim === 'string' && claim.isWellFormed() && !claim.includes('\0')
}

/** Attestation and simulation in one answer. */
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
    simulation: simulationOf(context, record),
    token,
  }
  yield `${JSON.stringify(head).slice(0, -1)},"attestation":`
  yield* attestationPieces(context, record)
  yield '}'
}

function notConfigured(): ServiceError {
  return new ServiceError('BEARER_TOKEN_INVALID', 'this gateway takes no tokens: it knows no issuer of them', {
    hint: 'its operator sets ATTEST_JWT_ISSUER and its companions; GET /v1/attest-code needs no token',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
