// Every error code of the services with its status. Each code has one meaning and is declared only here.

import { isBodyless } from '@svc/protocol/request-envelope'
import Type, { type Static } from 'typebox'

export const ERROR_STATUS = {
  // the request
  leg_not_in_quote: 400,
  leg_incomplete: 400,
  mixed_networks: 400,
  missing_receipt_id: 400,
  missing_result_hash_run_storage_verify_first: 400,
  receipt_has_no_tx_hash: 400,
  malformed_request: 400,
  malformed_payment: 400,
  signed_payment_not_taken: 400,
  TUS_CONCAT_INVALID: 400,

  // the caller
  MISSING_ENVELOPE: 401,
  RECEIPT_ID_MISMATCH: 401,
  LOCKER_ID_MISMATCH: 401,
  OIDC_TOKEN_INVALID: 401,
  BEARER_TOKEN_INVALID: 401,
  INTERNAL_AUTH_REQUIRED: 401,
  UPLOAD_TOKEN_INVALID: 401,

  // payment
  tx_required: 402,
  payment_credential_invalid: 402,
  tx_not_found: 402,
  payment_verification_failed: 402,

  // permissions
  SIGNATURE_INVALID: 403,
  // 401 where a request has no body: see errorStatus.
  BODY_HASH_MISMATCH: 403,
  MISSING_OPS: 403,
  EXPIRED_ENVELOPE: 403,
  ENVELOPE_NOT_YET_VALID: 403,
  ENVELOPE_LIFETIME_INVALID: 403,
  METHOD_MISMATCH: 403,
  PATH_MISMATCH: 403,
  AUDIENCE_MISMATCH: 403,
  NONCE_REPLAYED: 403,
  OWNER_REQUIRED: 403,
  OWNER_IDENTITY_MISMATCH: 403,
  SERVICE_NOT_AUTHORIZED: 403,
  ACTING_IDENTITY_REQUIRED: 403,
  SHORT_URL_INVALID: 403,
  SHORT_URL_EXPIRED: 403,
  CONTENT_TYPE_MISMATCH: 403,
  LOADED_AS_CODE: 403,
  ORACLE_SECRET_INVALID: 403,
  TUS_UPLOAD_FINISHED: 403,

  // not found
  not_found: 404,
  pay_req_not_found: 404,
  receipt_not_found: 404,
  locker_not_found: 404,
  CONTENT_NOT_FOUND: 404,
  FILE_NOT_FOUND: 404,
  FILE_NOT_ATTESTED: 404,
  statement_not_found: 404,
  OPERATOR_NOT_FOUND: 404,
  S3_KEY_NOT_FOUND: 404,
  SHARE_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  TUS_UPLOAD_NOT_FOUND: 404,
  delegation_not_found: 404,
  not_in_log: 404,
  job_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,

  // conflicts with the current state
  idempotency_conflict: 409,
  attestation_not_available: 409,
  HASH_MISMATCH: 409,
  EMPTY_FILE_LIST: 409,
  CONTENT_HASH_CHANGED: 409,
  LOCKER_ID_COLLISION: 409,
  receipt_is_renewal: 409,
  SESSION_CLOSED: 409,
  payment_already_used: 409,
  OPERATOR_LIMIT_EXCEEDED: 409,
  S3_KEY_LIMIT_EXCEEDED: 409,
  SHARE_LIMIT_EXCEEDED: 409,
  DELEGATION_LIMIT_EXCEEDED: 409,
  TUS_OFFSET_MISMATCH: 409,
  quote_expired: 410,
  TUS_UPLOAD_GONE: 410,
  PRECONDITION_FAILED: 412,
  TUS_VERSION_UNSUPPORTED: 412,

  // form and size
  body_too_large: 413,
  UPLOAD_TOO_LARGE: 413,
  unsupported_encoding: 415,
  unsupported_media_type: 415,
  RANGE_NOT_SATISFIABLE: 416,
  expectation_failed: 417,
  validation_error: 422,
  LOCKER_FROZEN: 423,
  headers_too_large: 431,
  LOCKER_TAKEN_DOWN: 451,
  TUS_CHECKSUM_MISMATCH: 460,

  // limits
  LOCKER_LIMIT_EXCEEDED: 429,
  RATE_LIMITED: 429,

  // server errors
  internal_error: 500,
  IAM_SIGNBLOB_PERMISSION_DENIED: 500,
  S3_DISABLED: 501,
  anchor_failed: 502,
  tx_not_found_on_chain: 502,
  overloaded: 503,
  chain_unavailable: 503,
  database_unavailable: 503,
  STORAGE_UNAVAILABLE: 503,
  identity_provider_unavailable: 503,
  gateway_unavailable: 503,
  signing_key_unavailable: 503,
  database_behind: 503,
  logbook_unavailable: 503,
  LOCKER_CAPACITY_EXCEEDED: 507,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** One code has two statuses: a wrong body hash is 401 if the method has no body (ENV-07). */
export function errorStatus(code: ErrorCode, method: string): number {
  return code === 'BODY_HASH_MISMATCH' && isBodyless(method) ? 401 : ERROR_STATUS[code]
}

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'The error code, which is stable and meant for programs.' }),
    message: Type.String({ description: 'What went wrong, for people.' }),
    hint: Type.Optional(Type.String({ description: 'What to do next.' })),
    docs_url: Type.Optional(Type.String({ description: 'A page about the code, with its cause and what to do next.' })),
    details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    detail: Type.Optional(
      Type.Array(
        Type.Object({
          loc: Type.Array(Type.Union([Type.String(), Type.Integer()])),
          msg: Type.String(),
          type: Type.String(),
        }),
        {
          description: 'With `validation_error`: every invalid input. `loc` begins with body, query, path or header.',
        },
      ),
    ),
    request_id: Type.String(),
  },
  { title: 'Error' },
)
export type ErrorBody = Static<typeof ErrorBody>

/** The `details` of every upload error: where it failed, and what to do next (FILE-31, ERR-29). */
export interface UploadDetails {
  layer: 'app_orchestrator' | 'sandbox_runtime' | 'mcp' | 'gateway' | 'provider' | 'viewer'
  recovery_hint: string
  next_best_method: string
}

const { detail: _, ...ErrorFields } = ErrorBody.properties

/** Problem details (RFC 9457) for clients of the Machine Payments Protocol, with the usual error fields. */
export const PaymentProblem = Type.Object(
  {
    type: Type.String({ description: "The URL of one of the protocol's problem types." }),
    title: Type.String(),
    status: Type.Literal(402),
    detail: Type.String({ description: 'The same as `message`.' }),
    ...ErrorFields,
  },
  { title: 'PaymentProblem' },
)
