// What every error code means and what to do about it: the text of `/errors/{code}` and of `svc errors`.
// Apart from `errors.ts`, so that clients that only need the codes do not carry the texts.

import { ERROR_STATUS, type ErrorCode } from './errors.ts'

export interface ErrorGuide {
  cause: string
  /** What the caller does next. */
  next: string
}

const RESEND = 'Nothing was changed. Send the same request again after the pause that `Retry-After` names.'
const SIGN_AGAIN = 'Sign a new envelope for exactly the request you send, with a fresh nonce.'
const OPERATOR = 'Tell the operator of the gateway, with the `request_id`.'
const INTERNAL = 'This endpoint is for the operator. Send the secret or token that the operator has configured.'
const NEW_SESSION = 'Open another session with `POST /v1/lockers/{locker_id}/upload-sessions`.'

export const ERROR_GUIDE: Readonly<Record<ErrorCode, ErrorGuide>> = {
  leg_not_in_quote: {
    cause: 'The network and asset that were named are not among the ways to pay.',
    next: 'Use a leg that the quote lists under `accepts`, or ask without `pay_network` and `pay_asset` to see all.',
  },
  leg_incomplete: {
    cause: 'Only one of `pay_network` and `pay_asset` was sent.',
    next: 'Send both, or neither for the first leg of the quote.',
  },
  mixed_networks: {
    cause: 'A sponsored batch names quotes that one transaction cannot have paid.',
    next: 'Confirm the quotes of each network in a request of their own.',
  },
  missing_receipt_id: { cause: 'The query has no `receipt_id`.', next: 'Add `?receipt_id=rcpt_…`.' },
  missing_result_hash_run_storage_verify_first: {
    cause: 'There is no code yet, because nothing was attested.',
    next: 'Attest first: `POST /v1/storage/attest?receipt_id=…`.',
  },
  receipt_has_no_tx_hash: {
    cause: 'The receipt names no transaction, so there is nothing to look up on chain.',
    next: 'Check the signature of the receipt instead: `GET /v1/receipts/{receipt_id}/verify`.',
  },
  malformed_payment: {
    cause: 'PAYMENT-SIGNATURE cannot be read, or is of x402 version 1. Nothing was sent.',
    next: 'Ask again without it for an offer, and sign that with a client of x402 version 2.',
  },
  signed_payment_not_taken: {
    cause: 'A signed x402 payment came to the plain quote, which is paid by a transaction. Nothing was sent.',
    next: 'Send it to the address in the hint, `POST /v1/x402/storage`, or pay on chain and confirm.',
  },
  malformed_request: {
    cause: 'The request is not valid HTTP, or the connection broke before the body was complete.',
    next: 'Send it again from its beginning. If that happens each time, look at the proxy in between.',
  },

  MISSING_ENVELOPE: {
    cause: 'The endpoint answers signed requests only, and this one has no envelope.',
    next: 'Send `X-Svc-Envelope` and `X-Svc-Signature`; docs/http.md shows how they are made.',
  },
  RECEIPT_ID_MISMATCH: {
    cause: 'The envelope and the request name different receipts.',
    next: 'Sign the `receipt_id` that the request is about.',
  },
  AUDIENCE_MISMATCH: {
    cause:
      'The envelope is for another service: its `aud` is not the address of this one, or is missing where no locker is named.',
    next: 'Sign the base URL of the service as `aud`, and call it by that address.',
  },
  LOCKER_ID_MISMATCH: {
    cause: 'The envelope and the request name different lockers.',
    next: 'Sign the `locker_id` that is in the path or body. It follows from the receipt id.',
  },
  OIDC_TOKEN_INVALID: {
    cause: 'The token of the identity provider is missing, expired, or for another audience.',
    next: 'Get a fresh token from the provider that the hint names. Without one, use `POST /v1/storage/confirm`.',
  },
  BEARER_TOKEN_INVALID: {
    cause: 'The bearer token is missing, expired, or of an issuer that this gateway does not know.',
    next: 'Get a fresh token. `GET /v1/attest-code` answers the code without one.',
  },
  INTERNAL_AUTH_REQUIRED: { cause: 'The caller is not known as an internal one.', next: INTERNAL },
  UPLOAD_TOKEN_INVALID: {
    cause:
      'The token is not that of this upload session or of tus uploads into this locker, has expired, or the access of the key that asked for it was ended.',
    next: `Send the \`upload_token\` of this session in \`X-Upload-Token\`. ${NEW_SESSION} For tus: \`POST /v1/lockers/{locker_id}/tus/tokens\`.`,
  },

  tx_required: {
    cause: 'The confirmation names no transaction, or not one of this chain.',
    next: 'Pay, then send the id of the transaction in `X402-TX` (or as `tx_sig`).',
  },
  payment_credential_invalid: {
    cause:
      '`Authorization: Payment` cannot be read, or is for no challenge that this gateway gave for the quote. Nothing was changed.',
    next: 'Repeat all parameters of one challenge unchanged. If you have paid, do not pay again: confirm with `POST /v1/storage/confirm` and the transaction.',
  },
  tx_not_found: {
    cause: 'The chain does not show the transaction yet.',
    next: 'Do not pay again. Confirm again after 2, 4, 8, 16 and 32 seconds (EVM chain: 5, 10, 20, 40).',
  },
  payment_verification_failed: {
    cause:
      'The transaction does not pay this quote; `details.reason` says why: it failed, paid too little or to another address, came too late or before the quote, names another quote, or has paid for something else already.',
    next: 'Do not pay again before you know the reason. Confirm the transaction with the quote that it was made for. With `details.noted_for_refund` the operator has it on a list: ask them to return it, and name the transaction.',
  },

  SIGNATURE_INVALID: {
    cause: 'The signature is not that of the owner or of an operator of the locker, or the envelope cannot be read.',
    next: 'Sign the exact bytes of the envelope with the key that paid, or with a registered operator key. Ed25519 signatures are base58, those of EVM wallets are `0x` and hex; the envelope is base64url without padding.',
  },
  BODY_HASH_MISMATCH: {
    cause: '`body_sha256` is not the SHA-256 of the bytes that arrived.',
    next: 'Serialize the body once, hash those bytes and send them. For GET and DELETE the field is empty.',
  },
  MISSING_OPS: {
    cause: 'The envelope does not hold an op that the operation needs.',
    next: 'Add it to `ops`; `/openapi.json` lists those of each operation under `x-required-ops`.',
  },
  EXPIRED_ENVELOPE: { cause: '`exp` of the envelope has passed.', next: `${SIGN_AGAIN} Check your clock.` },
  ENVELOPE_NOT_YET_VALID: {
    cause: '`iat` of the envelope is more than 30 seconds ahead of the clock of the gateway.',
    next: 'Set your clock; `GET /health` shows the time of the gateway.',
  },
  ENVELOPE_LIFETIME_INVALID: {
    cause: '`exp` is not after `iat`, or by more than 60 seconds.',
    next: 'Set `exp` to `iat` + 60.',
  },
  METHOD_MISMATCH: { cause: 'The envelope is for another method.', next: SIGN_AGAIN },
  PATH_MISMATCH: {
    cause: 'The envelope is for another path.',
    next: 'Sign the path as it is sent, with its percent-encoding and without the query.',
  },
  NONCE_REPLAYED: {
    cause: 'A request with this nonce arrived before, so this one was not carried out.',
    next: 'Sign each request separately, retries included: 16 random bytes as 32 hex characters.',
  },
  OWNER_REQUIRED: { cause: 'An operator asked for what only the owner may do.', next: 'Sign with the key that paid.' },
  OWNER_IDENTITY_MISMATCH: {
    cause: 'The identity that was named is not the wallet that paid.',
    next: 'Name the wallet that paid on chain, and sign with it.',
  },
  SERVICE_NOT_AUTHORIZED: {
    cause: 'The token is valid, but its service may not do this.',
    next: 'Ask the operator to allow the service that `details` names.',
  },
  ACTING_IDENTITY_REQUIRED: {
    cause: 'The caller is internal and may read, but is not among those who may act. The attempt is in the audit log.',
    next: 'Act with an identity that the gateway names in `ADMINS`.',
  },
  SHORT_URL_INVALID: {
    cause:
      'The token was changed, is for another method, was revoked, or the key that asked for it was removed from the locker.',
    next: 'Ask for a fresh URL: `GET /v1/lockers/{locker_id}/files/{filename}`.',
  },
  SHORT_URL_EXPIRED: {
    cause: 'The URL has expired.',
    next: 'Ask for a fresh one, if needed with a longer `ttl_min` (at most 1440): `GET /v1/lockers/{locker_id}/files/{filename}`.',
  },
  CONTENT_TYPE_MISMATCH: {
    cause: 'The bytes came with a different `Content-Type` than the file was created with.',
    next: 'Send the `upload_headers` exactly as they were answered.',
  },
  LOADED_AS_CODE: {
    cause: 'A page tried to load a stored file as a script, a style, a worker or a document inside of it.',
    next: 'Fetch the file, open it, or show it as a picture, sound or film. Host code elsewhere.',
  },
  ORACLE_SECRET_INVALID: {
    cause: '`X-Oracle-Secret` is not the secret of this gateway.',
    next: 'Leave the header out to read what is attested already.',
  },

  not_found: { cause: 'Nothing is served at this path.', next: '`/openapi.json` lists every path.' },
  pay_req_not_found: {
    cause: 'There is no quote with this `pay_req_id`: it is misspelt, of another gateway, or was deleted unpaid.',
    next: 'If you have paid, ask the operator with the transaction. If not, ask for a new quote.',
  },
  receipt_not_found: {
    cause: 'There is no receipt with this id here, or the public link was rotated or closed.',
    next: 'Check the id, and that this is the gateway that sold it. If `/health` says that its database is behind, try again later: the operator brings receipts back. Do not pay again.',
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
    next: '`GET /v1/lockers/{locker_id}/files` lists what there is. Names are exact.',
  },
  FILE_NOT_ATTESTED: {
    cause: 'The statement does not name this file.',
    next: 'Attest again after the upload was confirmed.',
  },
  statement_not_found: {
    cause: 'The receipt has no statement with this number.',
    next: '`GET /v1/storage/statements?receipt_id=…` lists them; without `sequence` you get the newest.',
  },
  OPERATOR_NOT_FOUND: {
    cause: 'The key is not an operator of the locker.',
    next: '`GET /v1/lockers/{locker_id}/record` lists those that are.',
  },
  S3_KEY_NOT_FOUND: {
    cause: 'The locker or wallet has no S3 key with this id: it was revoked, has expired, or never existed.',
    next: '`GET /v1/lockers/{locker_id}/s3/keys` lists those of a locker that work, `GET /v1/s3/keys` those of a wallet.',
  },
  SESSION_NOT_FOUND: { cause: 'There is no such upload session, or it was deleted long ago.', next: NEW_SESSION },
  delegation_not_found: {
    cause: 'The signer has no delegation with this id.',
    next: '`GET /v1/delegations` lists those of the wallet that signs.',
  },
  not_in_log: {
    cause: 'The transparency log has no such tile or statement yet, or nothing was published so far.',
    next: 'Read `/log/checkpoint` for the size of the log. A new statement is in it after a few seconds.',
  },
  job_not_found: {
    cause: 'There is no job with this id: it is done, or was never there. Only dead jobs can be retried or deleted.',
    next: '`GET /v1/internal/operations/jobs` lists jobs by state.',
  },
  method_not_allowed: {
    cause: 'The path does not answer this method.',
    next: 'Use one of those in the `Allow` header.',
  },
  request_timeout: {
    cause: 'The request did not arrive in time.',
    next: 'Send it again. Upload large files in parts, so that a slow connection loses one part only.',
  },

  idempotency_conflict: {
    cause: 'The same `Idempotency-Key` came with another body before.',
    next: 'Repeat the first body, or use a new key for a new purchase.',
  },
  attestation_not_available: {
    cause: 'Nothing was attested yet.',
    next: 'Attest first: `POST /v1/storage/attest?receipt_id=…`.',
  },
  HASH_MISMATCH: {
    cause: 'The bytes that arrived do not have the `expected_hash`.',
    next: 'Upload them again. If that repeats, hash the file again: it may have changed.',
  },
  EMPTY_FILE_LIST: {
    cause: 'The locker holds no confirmed file, and an empty list cannot be attested.',
    next: 'Upload a file, confirm it, and attest then.',
  },
  CONTENT_HASH_CHANGED: {
    cause: 'The stored bytes no longer have the hash that was recorded when they arrived.',
    next: 'Earlier evidence shows what they were. Upload the file again, and tell the operator.',
  },
  LOCKER_ID_COLLISION: { cause: 'The id of the locker belongs to another receipt.', next: OPERATOR },
  receipt_is_renewal: {
    cause: 'The receipt is of a renewal, which extends an existing locker and opens none of its own.',
    next: 'Use the locker that `details` names: it is open.',
  },
  TUS_CONCAT_INVALID: {
    cause:
      'The partial uploads that `Upload-Concat` names cannot be joined: one is unfinished, used, repeated or unknown.',
    next: 'Finish each partial upload first, and name each of them once, in their order.',
  },
  TUS_UPLOAD_FINISHED: {
    cause: 'The upload is finished or joined from others: it takes no more bytes, and can no longer be given up.',
    next: 'Nothing is left to do. To replace the file, create another upload; to remove it, delete it from its locker.',
  },
  TUS_UPLOAD_NOT_FOUND: {
    cause: 'There is no tus upload with this URL.',
    next: 'Create an upload: `POST /v1/lockers/{locker_id}/tus`.',
  },
  TUS_OFFSET_MISMATCH: {
    cause: '`Upload-Offset` is not how many bytes the gateway has, or another request continued the upload.',
    next: 'Send `HEAD` to the upload, and continue from the offset that it answers.',
  },
  TUS_UPLOAD_GONE: {
    cause: 'The upload has expired or was given up, or the access of the key behind it was ended.',
    next: 'Create another upload: `POST /v1/lockers/{locker_id}/tus`.',
  },
  TUS_VERSION_UNSUPPORTED: {
    cause: 'The request has no `Tus-Resumable`, or that of another version.',
    next: 'Send `Tus-Resumable: 1.0.0`, as every client of tus 1.0 does.',
  },
  TUS_CHECKSUM_MISMATCH: {
    cause: 'The bytes are not those that `Upload-Checksum`, or `expected_hash` of the whole file, promised.',
    next: 'With `Upload-Checksum`, send the chunk again: the offset has not moved. Otherwise upload the right file from the beginning.',
  },
  SESSION_CLOSED: { cause: 'The upload session is finished, or was ended.', next: NEW_SESSION },
  OPERATOR_LIMIT_EXCEEDED: {
    cause: 'The locker has as many operators as it may have.',
    next: 'Remove one: `DELETE /v1/lockers/{locker_id}/operators/{pubkey}`.',
  },
  S3_KEY_LIMIT_EXCEEDED: {
    cause: 'The locker or wallet has as many S3 keys as it may have.',
    next: 'Revoke one that nobody uses: `DELETE /v1/lockers/{locker_id}/s3/keys/{access_key_id}`, or `DELETE /v1/s3/keys/{access_key_id}` for a wallet.',
  },
  DELEGATION_LIMIT_EXCEEDED: {
    cause: 'The wallet has as many delegations as it may have, or made as many today.',
    next: 'End one: `DELETE /v1/delegations/{delegation_id}`. Delegating a locker again changes its tasks.',
  },
  payment_already_used: {
    cause: 'The transaction has paid for something else, its refund is decided, or the quote was paid by another one.',
    next: '`GET /v1/internal/operations/payments` shows what it was used for.',
  },
  quote_expired: {
    cause: 'The quote has expired, and no payment made in its time is known.',
    next: 'If you paid in time, confirm with that transaction. If not, ask for a new quote. With `details.noted_for_refund` what you sent came too late, and the operator has it on a list: ask them to return it, and name the transaction.',
  },
  PRECONDITION_FAILED: {
    cause:
      'The file is no longer the one that `If-Match`, `If-Unmodified-Since`, `expected_hash` or `expected_uploaded_at` names, or there is a file of a name that should be free: a new name, or one that is uploaded with `"overwrite": false`, or with a tus token that creates new names only.',
    next: 'Read the file or the list again, and decide with what is there now.',
  },

  body_too_large: {
    cause: 'The body is longer than this endpoint takes.',
    next: 'Send less at once; `/openapi.json` says how long each body may be.',
  },
  UPLOAD_TOO_LARGE: {
    cause: 'The file is larger than the gateway or its storage takes.',
    next: 'Split it; `max_upload_bytes` is in `/.well-known/svc.json`.',
  },
  unsupported_encoding: {
    cause: 'The body came compressed, or with another transfer encoding than chunked.',
    next: 'Send the bytes as they are, without `Content-Encoding`.',
  },
  unsupported_media_type: {
    cause: '`Content-Type` is not that of JSON.',
    next: 'Send `Content-Type: application/json`.',
  },
  RANGE_NOT_SATISFIABLE: {
    cause: 'The range begins after the end of the file.',
    next: '`Content-Range` of the answer shows how many bytes there are.',
  },
  expectation_failed: {
    cause: 'The header `Expect` asks for something other than `100-continue`.',
    next: 'Send the request without that header.',
  },
  validation_error: {
    cause: 'Inputs are missing or not of their form; `detail` names each with `loc` and `msg`.',
    next: 'Correct what `detail` names. Signed requests: sign again for the new body.',
  },
  LOCKER_FROZEN: {
    cause: 'The operator of the gateway has frozen the locker: nothing can be written or newly shared.',
    next: 'Files can still be read by the owner and by links that were there. Ask the operator; `notice` of the record may say why.',
  },
  headers_too_large: {
    cause: 'The path, query and headers have more than 16 KiB together.',
    next: 'Send fewer or shorter headers, or a shorter query. `POST /v1/files/confirm-batch` takes up to 1,000 names in a signed body.',
  },

  LOCKER_TAKEN_DOWN: {
    cause: 'The operator of the gateway has taken the locker down for a legal reason: its bytes are not served.',
    next: 'Receipts, statements and proofs stay. Ask the operator; `notice` of the record may say why.',
  },

  LOCKER_LIMIT_EXCEEDED: {
    cause: 'The owner has as many lockers as the gateway allows.',
    next: 'The receipt stays good. Ask the operator for a higher limit, then open the locker.',
  },
  RATE_LIMITED: {
    cause: 'The caller used up a limit; `details` names it.',
    next: 'Wait for as many seconds as `Retry-After` says; without it waiting does not help, and `hint` says what does. Batch endpoints count once.',
  },

  internal_error: {
    cause: 'A fault of the gateway. Its log has the cause under the `request_id`.',
    next: `Send the request again later. ${OPERATOR}`,
  },
  IAM_SIGNBLOB_PERMISSION_DENIED: { cause: 'The gateway may not sign addresses of its storage.', next: OPERATOR },
  S3_DISABLED: {
    cause: 'The operator of the gateway has not opened it for S3 clients.',
    next: 'Use signed requests, short URLs and upload sessions, or ask the operator to set `S3=on`.',
  },
  anchor_failed: {
    cause: 'Publishing the statement on chain failed; the statement itself is made and signed.',
    next: 'Push again later: `POST /v1/attest/push`. A published statement is not published twice.',
  },
  tx_not_found_on_chain: {
    cause: 'The node does not show the transaction of the receipt now.',
    next: 'Ask again later. The signature of the receipt can be checked without a node.',
  },
  overloaded: { cause: 'The service has more requests than it can serve in time.', next: RESEND },
  chain_unavailable: {
    cause: 'No node of the chain can be asked now, or there is no price of the coin (`details.reason`).',
    next: 'Nothing is decided about a payment: do not pay again. Confirm again after `Retry-After`, or pay in another asset.',
  },
  database_unavailable: {
    cause: "The service's database is restarting, out of reach, or too busy to answer in time.",
    next: 'Send the request again after `Retry-After`, with a new envelope if it is signed. A payment is not lost: confirm it again, never pay again.',
  },
  STORAGE_UNAVAILABLE: { cause: 'The storage provider cannot be used now.', next: RESEND },
  identity_provider_unavailable: { cause: 'The keys of the identity provider cannot be read now.', next: RESEND },
  gateway_unavailable: { cause: 'The agent service cannot reach the gateway now.', next: RESEND },
  signing_key_unavailable: { cause: 'The gateway cannot sign now.', next: RESEND },
  database_behind: {
    cause:
      'The database of the gateway was restored, or was exchanged for another, and may lack what the gateway has signed or taken; or the clocks of gateway and database differ. It can be read; nothing is signed, sold or changed.',
    next: 'Nothing was changed: do not pay again. Sign the request again and send it after `Retry-After`; if it lasts, tell the operator.',
  },
  logbook_unavailable: {
    cause: 'The gateway cannot write its journal, so it cannot promise that what it did will not be forgotten.',
    next: 'Do not pay again. Repeat the request later: a purchase or a statement that was made is found then.',
  },
  LOCKER_CAPACITY_EXCEEDED: {
    cause: 'The locker has used up what was bought.',
    next: 'Delete files, or buy more.',
  },
}

/** For people and for programs alike: a few lines of plain text. */
export function errorPage(code: ErrorCode, baseUrl: string): string {
  const { cause, next } = ERROR_GUIDE[code]
  return `${code} (HTTP ${ERROR_STATUS[code]})\n\nCause: ${plain(cause)}\nNext:  ${plain(next)}\n\nAll codes: ${baseUrl}/errors\n`
}

export function errorIndex(baseUrl: string): string {
  const codes = Object.entries(ERROR_GUIDE).map(
    ([code, { cause, next }]) =>
      `${code} (HTTP ${ERROR_STATUS[code as ErrorCode]})\n  ${plain(cause)}\n  ${plain(next)}\n`,
  )
  return `The errors of this service. One of them: ${baseUrl}/errors/{code}\n\n${codes.join('\n')}`
}

/** Without the marks of code, which only a formatted text shows. */
function plain(text: string): string {
  return text.replaceAll('`', '')
}
