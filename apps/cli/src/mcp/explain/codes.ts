// Every error code of the gateway and the agent service: what it means for a caller of tools, and what to do next.

import type { ErrorCode } from '@svc/api/errors'

interface Meaning {
  means: string
  /** Null if the caller can do nothing about it. */
  next: string | null
}

const fresh = 'call the tool again: it signs anew'
const operator = 'tell the user: the operator of the gateway has to look at it'
const later = 'try again later; nothing was changed'
const lockers = '`list_lockers` shows the receipts of this wallet; nothing needs to be bought'
const owner = 'only the key that paid may do this: the server needs that key as SVC_WALLET'

const of = (means: string, next: string | null = null): Meaning => ({ means, next })

export const CODE_MEANINGS: Record<ErrorCode, Meaning> = {
  leg_not_in_quote: of('The quote cannot be paid with this asset or on this chain.', '`quote` shows what can be'),
  leg_incomplete: of('Network or asset of the payment is missing.', 'name both'),
  mixed_networks: of('Payments of several chains in one request.', 'confirm each chain by itself'),
  missing_receipt_id: of('No receipt was named.', 'give receipt_id, which `list_lockers` shows'),
  missing_result_hash_run_storage_verify_first: of('Nothing is attested yet.', '`attest` first'),
  receipt_has_no_tx_hash: of('The receipt was not paid by a transaction that can be looked at.'),
  malformed_request: of('The request cannot be read.', 'check the arguments'),
  malformed_payment: of('The signed payment cannot be read.', 'sign the offer with a client of x402 version 2'),
  signed_payment_not_taken: of(
    'A signed payment came where only transactions count.',
    'do not sign another: `buy` takes this one in _meta',
  ),
  MISSING_ENVELOPE: of('The request is not signed.', 'the server needs a key: SVC_WALLET'),
  RECEIPT_ID_MISMATCH: of('The signed request names another receipt.', lockers),
  LOCKER_ID_MISMATCH: of('The signed request names another locker.', lockers),
  OIDC_TOKEN_INVALID: of('The token of the identity provider is not valid.'),
  BEARER_TOKEN_INVALID: of('The bearer token is not valid.'),
  INTERNAL_AUTH_REQUIRED: of('Only the operator of the gateway may do this.'),
  UPLOAD_TOKEN_INVALID: of('The upload was started by another client, or has ended.', '`put_file` again'),
  tx_required: of('No transaction was shown.', 'pay first, then confirm with the transaction'),
  payment_credential_invalid: of(
    'The payment credential does not answer a challenge of this gateway.',
    'do not pay again; confirm with the transaction',
  ),
  tx_not_found: of(
    'The chain does not show the transaction yet.',
    'wait a few seconds and ask again; do not pay again',
  ),
  payment_verification_failed: of(
    'The transaction does not pay this quote.',
    'do not pay again; `purchase_status` tells what was paid',
  ),
  SIGNATURE_INVALID: of(
    'The key is neither owner nor operator of the locker.',
    'check receipt_id with `list_lockers`; else the user must give the right key as SVC_WALLET',
  ),
  BODY_HASH_MISMATCH: of('The request was changed on its way.', fresh),
  MISSING_OPS: of('The signed request does not permit this.', fresh),
  EXPIRED_ENVELOPE: of('The signed request came too late; perhaps a clock is wrong.', fresh),
  ENVELOPE_NOT_YET_VALID: of(
    'The signed request is from the future: a clock is wrong.',
    'check the clock of this machine',
  ),
  ENVELOPE_LIFETIME_INVALID: of('The signed request is valid for too long.', fresh),
  METHOD_MISMATCH: of('The signature is for another request.', fresh),
  PATH_MISMATCH: of('The signature is for another request.', fresh),
  AUDIENCE_MISMATCH: of(
    'The signed request is for another gateway or agent service.',
    'the user must set SVC_GATEWAY, or SVC_AGENT for the agent service, to the address that the service itself gives',
  ),
  NONCE_REPLAYED: of('The request was seen before.', fresh),
  OWNER_REQUIRED: of('Only the owner of the locker may do this.', owner),
  OWNER_IDENTITY_MISMATCH: of('Another key owns this.', owner),
  SERVICE_NOT_AUTHORIZED: of('This service may not act for the owner.', owner),
  ACTING_IDENTITY_REQUIRED: of('Only the operator of the gateway may do this.'),
  SHORT_URL_INVALID: of(
    'The short URL was changed or revoked, or is not of this gateway.',
    '`get_link` or `put_file` gives a new one',
  ),
  SHORT_URL_EXPIRED: of('The short URL has expired.', '`get_link` or `put_file` gives a new one'),
  LOADED_AS_CODE: of('A stored file cannot be loaded as code of a page.'),
  CONTENT_TYPE_MISMATCH: of(
    'The upload came with a different type than announced.',
    'send the headers exactly as given',
  ),
  ORACLE_SECRET_INVALID: of('Only the operator of the gateway may do this.'),
  not_found: of('There is nothing at this address.'),
  pay_req_not_found: of(
    'The gateway does not know this quote.',
    'the same call with the same intent; nothing is paid twice',
  ),
  receipt_not_found: of('The gateway does not know this receipt.', `${lockers}; was it sold by another gateway?`),
  locker_not_found: of('The locker does not exist, or is not open: perhaps receipt_id is mistyped.', lockers),
  CONTENT_NOT_FOUND: of('The file has a name, but no bytes yet.', 'upload them, or `put_file` again'),
  FILE_NOT_FOUND: of('The locker holds no file of this name.', '`list_files` shows what is there'),
  FILE_NOT_ATTESTED: of('The file is not in the statement.', '`attest`, then ask again'),
  statement_not_found: of('There is no statement of this number.', 'leave `sequence` out for the newest'),
  OPERATOR_NOT_FOUND: of('This key is not an operator of the locker.'),
  S3_KEY_NOT_FOUND: of('The locker has no such S3 key.'),
  SESSION_NOT_FOUND: of('The upload has ended, or never existed.', '`put_file` again'),
  delegation_not_found: of(
    'The agent service has no such delegation of this key.',
    'check delegation_id; only the key that delegated sees it',
  ),
  job_not_found: of('There is no such job.'),
  not_in_log: of('The transparency log does not have it yet.', 'try again after a few seconds'),
  method_not_allowed: of('This address does not do that.'),
  request_timeout: of('The request took too long to arrive.', later),
  idempotency_conflict: of(
    'The Idempotency-Key was used for another order.',
    'check `purchase_status`: if it was paid or is uncertain, use the earlier arguments; if not, another intent',
  ),
  attestation_not_available: of('Nothing is attested yet.', '`attest` first'),
  HASH_MISMATCH: of('The bytes that arrived are not those announced.', '`put_file` again'),
  EMPTY_FILE_LIST: of('The locker holds no file to attest.', '`put_file` first'),
  CONTENT_HASH_CHANGED: of('Stored bytes are not what they were.', operator),
  receipt_is_renewal: of(
    'This receipt is of a renewal: it has no locker of its own.',
    'use the receipt of the locker, which is in details',
  ),
  LOCKER_ID_COLLISION: of('Two receipts lead to one locker id.', operator),
  payment_already_used: of('The transaction has paid for something else.', operator),
  TUS_CONCAT_INVALID: of('Partial tus uploads cannot be joined.', 'finish each of them first; `put_file` needs none'),
  TUS_UPLOAD_FINISHED: of('The tus upload is finished.'),
  TUS_UPLOAD_NOT_FOUND: of('There is no such tus upload.', '`put_file` uploads without tus'),
  TUS_OFFSET_MISMATCH: of('The tus upload is at another offset.', 'ask for the offset with HEAD, and go on from there'),
  TUS_UPLOAD_GONE: of('The tus upload has ended.', 'create another one, or `put_file`'),
  TUS_VERSION_UNSUPPORTED: of('Only tus 1.0.0 is supported.', 'send Tus-Resumable: 1.0.0'),
  TUS_CHECKSUM_MISMATCH: of('The bytes are not those that were promised.', 'send them again'),
  SESSION_CLOSED: of('The upload has ended.', '`put_file` again'),
  OPERATOR_LIMIT_EXCEEDED: of('The locker has as many operators as it may.'),
  S3_KEY_LIMIT_EXCEEDED: of('The locker has as many S3 keys as it may.'),
  DELEGATION_LIMIT_EXCEEDED: of(
    'The agent service works on as many lockers for this key as it may.',
    'end a delegation that is no longer needed',
  ),
  quote_expired: of(
    'The quote has expired.',
    'the same call with the same intent asks for a new one, and pays nothing twice',
  ),
  body_too_large: of('The request is too long.'),
  UPLOAD_TOO_LARGE: of('The file is larger than the gateway takes.', 'split the file'),
  unsupported_encoding: of('The request is encoded in a way that the gateway does not read.'),
  unsupported_media_type: of('The request has a type the gateway does not read.'),
  PRECONDITION_FAILED: of('The file has changed since it was read, or a name that should be free is taken.'),
  RANGE_NOT_SATISFIABLE: of('The file has no such bytes.'),
  expectation_failed: of('The request has an Expect header that no server fulfils.'),
  validation_error: of('An argument is not right.', 'read what is said about each, and correct it'),
  LOCKER_FROZEN: of(
    'The operator of the gateway has frozen the locker: nothing can be written or shared.',
    'tell the user to ask the operator of the gateway; files can still be read',
  ),
  LOCKER_TAKEN_DOWN: of(
    'The operator of the gateway has taken the locker down: its files are not served.',
    'tell the user to ask the operator of the gateway; statements and proofs stay',
  ),
  headers_too_large: of('The request has too many headers.'),
  LOCKER_LIMIT_EXCEEDED: of('This owner has as many lockers as the gateway allows.', operator),
  RATE_LIMITED: of('Too many requests.', 'wait, then call again'),
  internal_error: of('The gateway made a mistake.', later),
  IAM_SIGNBLOB_PERMISSION_DENIED: of('The gateway may not use its storage.', operator),
  S3_DISABLED: of('This gateway serves no S3 clients.', '`put_file` and `get_link` work without them'),
  anchor_failed: of('Publishing on chain failed; the statement itself stands.', '`attest` again later publishes it'),
  tx_not_found_on_chain: of('The chain does not show the transaction of the receipt now.', later),
  chain_unavailable: of('The gateway cannot reach the chain.', later),
  database_unavailable: of('The database of the gateway does not answer.', later),
  overloaded: of('The service has more requests than it can serve in time.', later),
  STORAGE_UNAVAILABLE: of('The gateway cannot reach its storage.', later),
  identity_provider_unavailable: of('The identity provider does not answer.', later),
  gateway_unavailable: of('The agent service cannot reach the gateway.', later),
  signing_key_unavailable: of('The gateway cannot sign now.', later),
  database_behind: of(
    'The database of the gateway was restored and may lack what was signed or paid, or its clock is wrong: it can be read only.',
    'nothing was changed: do not pay again; try later, and tell the user that the operator has to look',
  ),
  logbook_unavailable: of('The gateway cannot write its journal.', 'do not pay again; repeat the same call later'),
  LOCKER_CAPACITY_EXCEEDED: of(
    'The locker does not have this much room, or has expired.',
    'tell the user: `renew_locker` adds room and time for money; `delete_file` makes room',
  ),
}
