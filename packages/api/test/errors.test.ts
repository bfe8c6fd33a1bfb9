import { expect, it } from 'vitest'
import { agentEndpoints } from '../src/agent/agent.ts'
import { ERROR_GUIDE, errorPage } from '../src/error-guide.ts'
import { ERROR_STATUS, type ErrorCode } from '../src/errors.ts'
import { gatewayEndpoints } from '../src/gateway.ts'

const declared = new Set([...gatewayEndpoints, ...agentEndpoints].flatMap(({ errors = [] }) => errors))

it('ERR-28 LOCK-15 every endpoint that writes declares the code of a full locker, and no other does', () => {
  expect(ERROR_STATUS.LOCKER_CAPACITY_EXCEEDED).toBe(507)
  const refusing = gatewayEndpoints.filter(({ errors = [] }) => errors.includes('LOCKER_CAPACITY_EXCEEDED'))
  // HEAD of a tus upload stores a finished file before it answers.
  const tus = 'createTusUpload overrideTusMethod readTusUpload writeTusUpload'
  const others = 'confirmFile createFile createFiles fetchAndStore finalizeUpload finalizeUploadJob openUploadSession'
  const names = `${tus} ${others} uploadPart writeByToken`.split(' ')
  expect(refusing.map(({ name }) => name).sort()).toEqual(names.sort())
})

it('ERR-30 no two codes differ only in case', () => {
  const codes = Object.keys(ERROR_STATUS).map((code) => code.toLowerCase())
  expect(new Set(codes).size).toBe(codes.length)
})

it('ERR-30 every code that an endpoint declares has one error status', () => {
  for (const code of declared)
    expect(ERROR_STATUS[code], code).toSatisfy((status: number) => status >= 400 && status < 600)
})

it.each([
  [400, 'missing_receipt_id missing_result_hash_run_storage_verify_first TUS_CONCAT_INVALID'],
  [400, 'leg_not_in_quote leg_incomplete mixed_networks receipt_has_no_tx_hash'],
  [401, 'MISSING_ENVELOPE LOCKER_ID_MISMATCH OIDC_TOKEN_INVALID BEARER_TOKEN_INVALID'],
  [401, 'INTERNAL_AUTH_REQUIRED UPLOAD_TOKEN_INVALID RECEIPT_ID_MISMATCH'],
  [402, 'tx_required payment_credential_invalid tx_not_found payment_verification_failed'],
  [403, 'METHOD_MISMATCH PATH_MISMATCH NONCE_REPLAYED ENVELOPE_NOT_YET_VALID ENVELOPE_LIFETIME_INVALID OWNER_REQUIRED'],
  [403, 'SERVICE_NOT_AUTHORIZED OWNER_IDENTITY_MISMATCH SHORT_URL_INVALID SHORT_URL_EXPIRED CONTENT_TYPE_MISMATCH'],
  [403, 'ORACLE_SECRET_INVALID TUS_UPLOAD_FINISHED SIGNATURE_INVALID BODY_HASH_MISMATCH MISSING_OPS EXPIRED_ENVELOPE'],
  [404, 'pay_req_not_found locker_not_found FILE_NOT_FOUND FILE_NOT_ATTESTED OPERATOR_NOT_FOUND SESSION_NOT_FOUND'],
  [
    404,
    'not_found not_in_log S3_KEY_NOT_FOUND TUS_UPLOAD_NOT_FOUND CONTENT_NOT_FOUND receipt_not_found delegation_not_found',
  ],
  [405, 'method_not_allowed'],
  [409, 'idempotency_conflict HASH_MISMATCH EMPTY_FILE_LIST CONTENT_HASH_CHANGED LOCKER_ID_COLLISION SESSION_CLOSED'],
  [
    409,
    'receipt_is_renewal S3_KEY_LIMIT_EXCEEDED TUS_OFFSET_MISMATCH attestation_not_available DELEGATION_LIMIT_EXCEEDED',
  ],
  [410, 'quote_expired TUS_UPLOAD_GONE'],
  [412, 'TUS_VERSION_UNSUPPORTED'],
  [413, 'UPLOAD_TOO_LARGE'],
  [415, 'unsupported_encoding'],
  [422, 'validation_error'],
  [429, 'RATE_LIMITED LOCKER_LIMIT_EXCEEDED'],
  [500, 'IAM_SIGNBLOB_PERMISSION_DENIED'],
  [460, 'TUS_CHECKSUM_MISMATCH'],
  [501, 'S3_DISABLED'],
  [502, 'anchor_failed tx_not_found_on_chain'],
  [503, 'chain_unavailable database_unavailable database_behind logbook_unavailable overloaded'],
  [503, 'signing_key_unavailable gateway_unavailable'],
  [507, 'LOCKER_CAPACITY_EXCEEDED'],
])('ERR-30 our own codes have the status %i: %s', (status, codes) => {
  const statuses: Record<string, number> = ERROR_STATUS
  for (const code of codes.split(' ')) expect(statuses[code], code).toBe(status)
})

it('ERR-30 every code has a cause and a next step, in complete sentences', () => {
  for (const [code, { cause, next }] of Object.entries(ERROR_GUIDE)) {
    for (const text of [cause, next]) expect(text, code).toMatch(/^[A-Z`].{10,}\.$/)
    expect(errorPage(code as ErrorCode, 'https://gateway.example')).toContain(`${code} (HTTP `)
  }
})
