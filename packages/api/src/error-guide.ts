// The cause of every error code and what to do next: the text of `/errors/{code}` and of `svc errors`. It is separate
// from `errors.ts`, so that clients that need only the codes do not bundle the texts.

import { ERROR_STATUS, type ErrorCode } from './errors.ts'

export interface ErrorGuide {
  cause: string
  /** What the caller does next. */
  next: string
}

const RESEND = 'Nothing was changed. Send the same request again after the number of seconds in `Retry-After`.'
const SIGN_AGAIN = 'Sign a new envelope for exactly the request that you send, with a fresh nonce.'
const ADMIN = "Report the error to the gateway's admin, with its `request_id`."
const INTERNAL = 'This endpoint is for the admin. Send the secret or the token that the admin has configured.'
const NEW_SESSION = 'Open a new session with `POST /v1/lockers/{locker_id}/upload-sessions`.'

export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuide>> = {
  leg_not_in_quote: {
    cause: 'The quote cannot be paid with the requested network and asset.',
    next: 'Choose one of the legs that the quote lists under `accepts`. A request without `pay_network` and `pay_asset` returns them all.',
  },
  leg_incomplete: {
    cause: 'The request has only one of `pay_network` and `pay_asset`.',
    next: 'Send both, or neither to use the first leg of the quote.',
  },
  mixed_networks: {
    cause: 'The sponsored batch names quotes that a single transaction cannot have paid.',
    next: 'Confirm the quotes of each network in a separate request.',
  },
  missing_receipt_id: { cause: 'The query has no `receipt_id`.', next: 'Add `?receipt_id=rcpt_…`.' },
  missing_result_hash_run_storage_verify_first: {
    cause: 'There is no attestation code because nothing has been attested yet.',
    next: 'Attest first: `POST /v1/storage/attest?receipt_id=…`.',
  },
  receipt_has_no_tx_hash: {
    cause: 'The receipt names no transaction, so the payment cannot be checked on chain.',
    next: 'Check the signature of the receipt instead: `GET /v1/receipts/{receipt_id}/verify`.',
  },
  malformed_payment: {
    cause: '`PAYMENT-SIGNATURE` cannot be read, or it is for version 1 of x402. No payment was sent.',
    next: 'Request an offer without this header, and sign the offer with a client of x402 version 2.',
  },
  signed_payment_not_taken: {
    cause:
      'A signed x402 payment was sent to the plain quote, which must be paid with a transaction. No payment was sent.',
    next: 'Send it to the endpoint in the hint, `POST /v1/x402/storage`, or pay on chain and confirm the transaction.',
  },
  malformed_request: {
    cause: 'The request is not valid HTTP, or the connection broke before the body was complete.',
    next: 'Send the whole request again. If the error repeats, check any proxy between you and the gateway.',
  },

  MISSING_ENVELOPE: {
    cause: 'The endpoint accepts only signed requests, and this one has no envelope.',
    next: 'Send `X-Svc-Envelope` and `X-Svc-Signature`. docs/http.md shows how to make them.',
  },
  RECEIPT_ID_MISMATCH: {
    cause: 'The envelope and the request name different receipts.',
    next: 'Sign the `receipt_id` that the request is about.',
  },
  AUDIENCE_MISMATCH: {
    cause:
      'The envelope is for another service: its `aud` is not the address of this one, or is missing from a request that names no locker.',
    next: 'Sign the base URL of the service as `aud`, and send the request to that URL.',
  },
  LOCKER_ID_MISMATCH: {
    cause: 'The envelope and the request name different lockers.',
    next: 'Sign the `locker_id` of the path or body. It is derived from the receipt id.',
  },
  OIDC_TOKEN_INVALID: {
    cause: 'The token of the identity provider is missing, has expired, or is for another audience.',
    next: 'Get a fresh token from the provider that the hint names. Without a token, use `POST /v1/storage/confirm`.',
  },
  BEARER_TOKEN_INVALID: {
    cause: 'The bearer token is missing, has expired, or was issued by a provider that this gateway does not trust.',
    next: 'Get a fresh token. `GET /v1/attest-code` returns the code without one.',
  },
  INTERNAL_AUTH_REQUIRED: {
    cause: 'The endpoint is internal, and the caller sent no valid secret or token for it.',
    next: INTERNAL,
  },
  UPLOAD_TOKEN_INVALID: {
    cause:
      'The token does not belong to this upload session or to tus uploads into this locker, it has expired, or the key that requested it has lost its access.',
    next: `Send the \`upload_token\` of this session in \`X-Upload-Token\`. ${NEW_SESSION} For tus, request a new token with \`POST /v1/lockers/{locker_id}/tus/tokens\`.`,
  },

  tx_required: {
    cause: 'The confirmation names no transaction, or its id is not valid on this chain.',
    next: 'Pay first, then send the transaction id in `X402-TX` (or as `tx_sig`).',
  },
  payment_credential_invalid: {
    cause:
      '`Authorization: Payment` cannot be read, or does not match any challenge that this gateway issued for the quote. Nothing was changed.',
    next: 'Repeat all parameters of one challenge unchanged. If you have already paid, do not pay again: confirm the transaction with `POST /v1/storage/confirm`.',
  },
  tx_not_found: {
    cause: 'The transaction is not visible on the chain yet.',
    next: 'Do not pay again. Confirm again after 2, 4, 8, 16 and 32 seconds (on the EVM chain after 5, 10, 20 and 40).',
  },
  payment_verification_failed: {
    cause:
      'The transaction does not pay this quote. `details.reason` gives the reason: the transaction failed, paid too little or to another address, is older than the quote, came too late, names another quote, or has already paid for something else.',
    next: "Do not pay again before you know the reason. Confirm the transaction with the quote that it was made for. If `details.noted_for_refund` is present, the gateway's admin has the payment on a list of refunds: ask them to return it, and name the transaction.",
  },

  SIGNATURE_INVALID: {
    cause: 'The signature is not by the owner or an operator of the locker, or the envelope cannot be read.',
    next: 'Sign the exact bytes of the envelope with the key that paid, or with a registered operator key. Ed25519 signatures are base58; signatures of EVM wallets are `0x` and hex. The envelope is base64url without padding.',
  },
  BODY_HASH_MISMATCH: {
    cause: '`body_sha256` is not the SHA-256 of the body that arrived.',
    next: 'Serialize the body once, hash those bytes and send them. For GET and DELETE the field is empty.',
  },
  MISSING_OPS: {
    cause: 'The envelope lacks an op that the operation requires.',
    next: 'Add it to `ops`. `/openapi.json` lists the ops of each operation under `x-required-ops`.',
  },
  EXPIRED_ENVELOPE: { cause: 'The envelope has expired (`exp`).', next: `${SIGN_AGAIN} Check your clock.` },
  ENVELOPE_NOT_YET_VALID: {
    cause: "`iat` of the envelope is more than 30 seconds ahead of the gateway's clock.",
    next: "Set your clock. `GET /health` returns the gateway's time.",
  },
  ENVELOPE_LIFETIME_INVALID: {
    cause: '`exp` is not later than `iat`, or is more than 60 seconds later.',
    next: 'Set `exp` to `iat` + 60.',
  },
  METHOD_MISMATCH: { cause: 'The envelope is for another method.', next: SIGN_AGAIN },
  PATH_MISMATCH: {
    cause: 'The envelope is for another path.',
    next: 'Sign the path exactly as it is sent, with its percent-encoding and without the query.',
  },
  NONCE_REPLAYED: {
    cause: 'A request with this nonce has already arrived, so this one was not carried out.',
    next: 'Sign every request separately, retries included. A nonce is 16 random bytes as 32 hex characters.',
  },
  OWNER_REQUIRED: {
    cause: 'An operator requested something that only the owner may do.',
    next: 'Sign with the key that paid.',
  },
  OWNER_IDENTITY_MISMATCH: {
    cause: 'The identity in the request is not the wallet that paid.',
    next: 'Name the wallet that paid on chain, and sign with it.',
  },
  SERVICE_NOT_AUTHORIZED: {
    cause: 'The token is valid, but its service may not do this.',
    next: "Ask the gateway's admin to allow the service that `details` names.",
  },
  ACTING_IDENTITY_REQUIRED: {
    cause:
      'The caller may read as an admin, but is not one of the identities that may act. The attempt is recorded in the audit trail.',
    next: 'Use an identity that the gateway lists in `ADMINS`.',
  },
  SHORT_URL_INVALID: {
    cause:
      'The token was altered, is for another method, was revoked, or was requested by a key that has since been removed from the locker.',
    next: 'Request a fresh URL: `GET /v1/lockers/{locker_id}/files/{filename}`.',
  },
  SHORT_URL_EXPIRED: {
    cause: 'The URL has expired.',
    next: 'Request a fresh URL: `GET /v1/lockers/{locker_id}/files/{filename}`. A longer `ttl_min` (at most 1440) makes it last longer.',
  },
  CONTENT_TYPE_MISMATCH: {
    cause: "The upload's `Content-Type` is not the one that the file was created with.",
    next: 'Send the `upload_headers` of the response exactly as they are.',
  },
  LOADED_AS_CODE: {
    cause: 'A page tried to load a stored file as a script, a stylesheet, a worker or an embedded document.',
    next: 'Fetch the file, open it, or embed it as an image, audio or video. Host code elsewhere.',
  },
  ORACLE_SECRET_INVALID: {
    cause: '`X-Oracle-Secret` is not the secret of this gateway.',
    next: 'Leave the header out to read what has already been attested.',
  },

  not_found: { cause: 'No endpoint has this path.', next: '`/openapi.json` lists every path.' },
  pay_req_not_found: {
    cause:
      'There is no quote with this `pay_req_id`: it is misspelt, belongs to another gateway, or was deleted because it was never paid.',
    next: "If you have paid, give the gateway's admin the transaction. If not, request a new quote.",
  },
  receipt_not_found: {
    cause: 'This gateway has no receipt with this id, or the public link was rotated or closed.',
    next: 'Check the id, and that this is the gateway that sold the locker. Do not pay again. If `/health` reports that the database is behind, try again later: the admin restores the missing receipts.',
  },
  locker_not_found: {
    cause: 'There is no such locker, or its receipt has not been used to open it yet.',
    next: 'Open it once: `POST /v1/storage/signed_provision`.',
  },
  CONTENT_NOT_FOUND: {
    cause: 'The file has a name, but its bytes have not arrived.',
    next: 'PUT them to the `upload_url`, then confirm the file.',
  },
  FILE_NOT_FOUND: {
    cause: 'The locker has no file of this name.',
    next: '`GET /v1/lockers/{locker_id}/files` lists the files. Names must match exactly.',
  },
  FILE_NOT_ATTESTED: {
    cause: 'The statement does not include this file.',
    next: 'Confirm the upload, then attest again.',
  },
  statement_not_found: {
    cause: 'The receipt has no statement with this number.',
    next: '`GET /v1/storage/statements?receipt_id=…` lists the statements. Leave `sequence` out to get the newest.',
  },
  OPERATOR_NOT_FOUND: {
    cause: 'The key is not an operator of the locker.',
    next: '`GET /v1/lockers/{locker_id}/record` lists its operators.',
  },
  S3_KEY_NOT_FOUND: {
    cause: 'The locker or wallet has no S3 key with this id: it was revoked, has expired, or never existed.',
    next: "`GET /v1/lockers/{locker_id}/s3/keys` lists a locker's valid keys, and `GET /v1/s3/keys` a wallet's.",
  },
  SHARE_NOT_FOUND: {
    cause:
      'No share has this address: it has expired, was ended, or never existed, or the key that created it lost its access.',
    next: 'Ask the sender of the address for a new one. `GET /v1/lockers/{locker_id}/shares` lists the shares of your own locker.',
  },
  SESSION_NOT_FOUND: {
    cause: 'There is no such upload session, or it was deleted some time after it ended.',
    next: NEW_SESSION,
  },
  delegation_not_found: {
    cause: 'The signer has no delegation with this id.',
    next: '`GET /v1/delegations` lists the delegations of the wallet that signs.',
  },
  not_in_log: {
    cause: 'The transparency log does not have this tile or statement yet, or nothing has been published so far.',
    next: 'Read the size of the log from `/log/checkpoint`. A new statement is added within a few seconds.',
  },
  job_not_found: {
    cause:
      'There is no job with this id: it is finished or never existed, or it is not dead. Only dead jobs can be retried or deleted.',
    next: '`GET /v1/internal/operations/jobs` lists jobs by state.',
  },
  method_not_allowed: {
    cause: 'The path does not support this method.',
    next: 'Use one of the methods in the `Allow` header.',
  },
  request_timeout: {
    cause: 'The request did not arrive in time.',
    next: 'Send it again. Upload large files in parts, so that a slow connection loses only one part.',
  },

  idempotency_conflict: {
    cause: 'This `Idempotency-Key` has already been used with a different body.',
    next: 'Repeat the first body, or use a new key for a new purchase.',
  },
  attestation_not_available: {
    cause: 'Nothing has been attested yet.',
    next: 'Attest first: `POST /v1/storage/attest?receipt_id=…`.',
  },
  HASH_MISMATCH: {
    cause: 'The bytes that arrived do not match `expected_hash`.',
    next: 'Upload them again. If the error repeats, hash the file again: it may have changed.',
  },
  EMPTY_FILE_LIST: {
    cause: 'The locker has no confirmed file, and an empty list cannot be attested.',
    next: 'Upload a file and confirm it, then attest.',
  },
  CONTENT_HASH_CHANGED: {
    cause: 'The stored bytes no longer match the hash that was recorded when they arrived.',
    next: "Upload the file again, and tell the gateway's admin. Earlier statements still prove the original hash.",
  },
  LOCKER_ID_COLLISION: { cause: 'The locker id already belongs to another receipt.', next: ADMIN },
  receipt_is_renewal: {
    cause: 'The receipt is for a renewal, which extends an existing locker and does not open a new one.',
    next: 'Use the locker that `details` names. It is open.',
  },
  TUS_CONCAT_INVALID: {
    cause:
      'The partial uploads that `Upload-Concat` names cannot be joined: one is unfinished, already used, named twice or unknown.',
    next: 'Finish every partial upload first, and name each of them once, in order.',
  },
  TUS_UPLOAD_FINISHED: {
    cause: 'The upload is finished or was joined from others: it accepts no more bytes and can no longer be cancelled.',
    next: 'Nothing is left to do. To replace the file, create another upload; to remove it, delete it from its locker.',
  },
  TUS_UPLOAD_NOT_FOUND: {
    cause: 'There is no tus upload with this URL.',
    next: 'Create an upload: `POST /v1/lockers/{locker_id}/tus`.',
  },
  TUS_OFFSET_MISMATCH: {
    cause:
      '`Upload-Offset` is not the number of bytes that the gateway has, or another request has continued the upload.',
    next: 'Send `HEAD` to the upload, and continue from the offset that it returns.',
  },
  TUS_UPLOAD_GONE: {
    cause: 'The upload has expired, was cancelled, or was created with a key that has lost its access.',
    next: 'Create another upload: `POST /v1/lockers/{locker_id}/tus`.',
  },
  TUS_VERSION_UNSUPPORTED: {
    cause: 'The request has no `Tus-Resumable` header, or names an unsupported version.',
    next: 'Send `Tus-Resumable: 1.0.0`, as every tus 1.0 client does.',
  },
  TUS_CHECKSUM_MISMATCH: {
    cause: 'The bytes do not match `Upload-Checksum`, or the whole file does not match `expected_hash`.',
    next: 'With `Upload-Checksum`, send the chunk again: the offset has not moved. Otherwise upload the right file from the beginning.',
  },
  SESSION_CLOSED: { cause: 'The upload session is finished or was closed.', next: NEW_SESSION },
  OPERATOR_LIMIT_EXCEEDED: {
    cause: 'The locker already has the maximum number of operators.',
    next: 'Remove one: `DELETE /v1/lockers/{locker_id}/operators/{pubkey}`.',
  },
  S3_KEY_LIMIT_EXCEEDED: {
    cause: 'The locker or wallet already has the maximum number of S3 keys.',
    next: 'Revoke a key that is no longer used: `DELETE /v1/lockers/{locker_id}/s3/keys/{access_key_id}`, or `DELETE /v1/s3/keys/{access_key_id}` for a wallet.',
  },
  SHARE_LIMIT_EXCEEDED: {
    cause: 'The locker already has the maximum number of shares.',
    next: 'End one that is no longer used: `DELETE /v1/lockers/{locker_id}/shares/{share_id}`. `last_used_at` in the list shows which those are.',
  },
  DELEGATION_LIMIT_EXCEEDED: {
    cause: 'The wallet already has the maximum number of delegations, or has made the maximum number today.',
    next: 'End one: `DELETE /v1/delegations/{delegation_id}`. To change the tasks of a delegated locker, delegate it again.',
  },
  payment_already_used: {
    cause:
      'The transaction has already paid for something else, its refund is already decided, or another transaction has paid the quote.',
    next: '`GET /v1/internal/operations/payments` shows what it was used for.',
  },
  quote_expired: {
    cause: 'The quote has expired, and no payment was found that was made in time.',
    next: "If you paid in time, confirm the quote with that transaction. If not, request a new quote. If `details.noted_for_refund` is present, your payment came too late and the gateway's admin has it on a list of refunds: ask them to return it, and name the transaction.",
  },
  PRECONDITION_FAILED: {
    cause:
      'The file is no longer the one that `If-Match`, `If-Unmodified-Since`, `expected_hash` or `expected_uploaded_at` names. Or a file already has the new name, and the request (a rename, an upload with `"overwrite": false`, or a tus token that only creates new names) must not replace it.',
    next: 'Read the file or the list again, and decide from its current state.',
  },

  body_too_large: {
    cause: 'The body is longer than this endpoint accepts.',
    next: 'Send less in one request. `/openapi.json` gives the maximum length of each body.',
  },
  UPLOAD_TOO_LARGE: {
    cause: 'The file is larger than the gateway or its storage provider accepts.',
    next: 'Split the file. `/.well-known/svc.json` gives the limit as `max_upload_bytes`.',
  },
  unsupported_encoding: {
    cause: 'The body is compressed, or has a transfer encoding other than chunked.',
    next: 'Send the bytes as they are, without `Content-Encoding`.',
  },
  unsupported_media_type: {
    cause: 'The body must be JSON, but its `Content-Type` is a different one.',
    next: 'Send `Content-Type: application/json`.',
  },
  RANGE_NOT_SATISFIABLE: {
    cause: 'The range begins after the end of the file.',
    next: '`Content-Range` of the response gives the size of the file.',
  },
  expectation_failed: {
    cause: 'The `Expect` header asks for something other than `100-continue`.',
    next: 'Send the request without that header.',
  },
  validation_error: {
    cause: 'Inputs are missing or invalid. `detail` names each one with `loc` and `msg`.',
    next: 'Correct the inputs that `detail` names. If the request is signed, sign it again for the new body.',
  },
  LOCKER_FROZEN: {
    cause: "The gateway's admin has frozen the locker: nothing can be written or newly shared.",
    next: "The owner and existing links can still read the files. Ask the gateway's admin; the locker's record may give a reason under `notice`.",
  },
  headers_too_large: {
    cause: 'The path, the query and the headers exceed 16 KiB together.',
    next: 'Send fewer or shorter headers, or a shorter query. `POST /v1/files/confirm-batch` accepts up to 1,000 names in a signed body.',
  },

  LOCKER_TAKEN_DOWN: {
    cause: "The gateway's admin has taken the locker down for a legal reason: its files are not served.",
    next: "Receipts, statements and proofs remain available. Ask the gateway's admin; the locker's record may give a reason under `notice`.",
  },

  LOCKER_LIMIT_EXCEEDED: {
    cause: 'The owner already has the maximum number of lockers that the gateway allows.',
    next: "The receipt remains valid. Ask the gateway's admin for a higher limit, then open the locker.",
  },
  RATE_LIMITED: {
    cause: 'The caller has reached a limit, which `details` names.',
    next: 'Wait for the number of seconds in `Retry-After`. Without that header, waiting does not help: follow the `hint`. A batch request counts once.',
  },

  internal_error: {
    cause: 'The gateway failed to handle the request. Its log has the cause under the `request_id`.',
    next: "Send the request again later. If the error persists, report it to the gateway's admin, with its `request_id`.",
  },
  IAM_SIGNBLOB_PERMISSION_DENIED: {
    cause: 'The gateway is not permitted to sign URLs of its storage provider.',
    next: ADMIN,
  },
  S3_DISABLED: {
    cause: 'This gateway does not serve S3 clients.',
    next: 'Use signed requests, short URLs and upload sessions, or ask the admin to set `S3=on`.',
  },
  anchor_failed: {
    cause: 'The statement was made and signed, but could not be published on chain.',
    next: 'Publish it again later: `POST /v1/attest/push`. A published statement is never published twice.',
  },
  tx_not_found_on_chain: {
    cause: "The node does not return the receipt's transaction at the moment.",
    next: 'Try again later. The signature of the receipt can be checked without a node.',
  },
  overloaded: { cause: 'The service has more requests than it can serve in time.', next: RESEND },
  chain_unavailable: {
    cause: 'No node of the chain answers at the moment, or the coin has no current price (`details.reason`).',
    next: 'Do not pay again: no payment was accepted or refused. Confirm again after `Retry-After`, or pay with another asset if you have not paid yet.',
  },
  database_unavailable: {
    cause: "The service's database is restarting, unreachable, or too busy to answer in time.",
    next: 'Send the request again after `Retry-After`, with a new envelope if it is signed. Payments are not lost: confirm again, and never pay again.',
  },
  STORAGE_UNAVAILABLE: { cause: 'The storage provider is unavailable at the moment.', next: RESEND },
  identity_provider_unavailable: {
    cause: "The identity provider's keys cannot be read at the moment.",
    next: RESEND,
  },
  gateway_unavailable: { cause: 'The agent service cannot reach the gateway at the moment.', next: RESEND },
  signing_key_unavailable: { cause: 'The gateway cannot sign at the moment.', next: RESEND },
  database_behind: {
    cause:
      "The gateway's database was restored or replaced and may lack receipts, statements or payments, or its clock differs from the gateway's. Data can be read, but nothing is signed, sold or changed.",
    next: "Nothing was changed: do not pay again. Sign the request again and send it after `Retry-After`. If the error persists, tell the gateway's admin.",
  },
  logbook_unavailable: {
    cause: 'The gateway cannot write its journal, so it could lose the record of a purchase or statement.',
    next: 'Do not pay again. Repeat the request later: it finds a purchase or a statement that was already made.',
  },
  LOCKER_CAPACITY_EXCEEDED: {
    cause: 'The locker has used all the storage that was bought, or its term has ended.',
    next: 'Delete files, or buy a renewal.',
  },
}

/** A few lines of plain text, for people and programs. */
export function errorPage(code: ErrorCode, baseUrl: string): string {
  const { cause, next } = ERROR_GUIDE[code]
  return `${code} (HTTP ${ERROR_STATUS[code]})\n\nCause: ${plain(cause)}\nNext:  ${plain(next)}\n\nAll codes: ${baseUrl}/errors\n`
}

export function errorIndex(baseUrl: string): string {
  const codes = Object.entries(ERROR_GUIDE).map(
    ([code, { cause, next }]) =>
      `${code} (HTTP ${ERROR_STATUS[code as ErrorCode]})\n  ${plain(cause)}\n  ${plain(next)}\n`,
  )
  return `The error codes of this service. The page of a single code: ${baseUrl}/errors/{code}\n\n${codes.join('\n')}`
}

/** Removes the backticks of Markdown. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
