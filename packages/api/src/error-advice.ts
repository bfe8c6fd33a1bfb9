// What to do about an error in the words of each client, where `next` of the guide, which speaks of HTTP, does not help its
// users. Each list is apart, so that nobody carries those of others.

import type { ErrorCode } from './errors.ts'

type Advice<T> = Readonly<Partial<Record<ErrorCode, T>>>

const AGAIN = 'call the tool again: it signs anew'
const OPERATOR = 'tell the user: the operator of the gateway has to look at it'
const LATER = 'try again later; nothing was changed'
const LOCKERS = '`list_lockers` shows the receipts of this wallet; nothing needs to be bought'
const OWNER = 'only the key that paid may do this: the server needs that key as SVC_WALLET'

/** For models, in the tools of `svc mcp`. A model spends money: none of these leads it to a purchase. */
export const TOOL_ADVICE: Advice<string> = {
  leg_not_in_quote: '`quote` shows what can be',
  leg_incomplete: 'name both',
  mixed_networks: 'confirm each chain by itself',
  missing_receipt_id: 'give receipt_id, which `list_lockers` shows',
  missing_result_hash_run_storage_verify_first: '`attest` first',
  malformed_request: 'check the arguments',
  malformed_payment: 'sign the offer with a client of x402 version 2',
  signed_payment_not_taken: 'do not sign another: `buy` takes this one in _meta',
  MISSING_ENVELOPE: 'the server needs a key: SVC_WALLET',
  RECEIPT_ID_MISMATCH: LOCKERS,
  LOCKER_ID_MISMATCH: LOCKERS,
  UPLOAD_TOKEN_INVALID: '`put_file` again',
  tx_required: 'pay first, then confirm with the transaction',
  payment_credential_invalid: 'do not pay again; confirm with the transaction',
  tx_not_found: 'wait a few seconds and ask again; do not pay again',
  payment_verification_failed: 'do not pay again; `purchase_status` tells what was paid',
  SIGNATURE_INVALID: 'check receipt_id with `list_lockers`; else the user must give the right key as SVC_WALLET',
  BODY_HASH_MISMATCH: AGAIN,
  MISSING_OPS: AGAIN,
  EXPIRED_ENVELOPE: AGAIN,
  ENVELOPE_NOT_YET_VALID: 'check the clock of this machine',
  ENVELOPE_LIFETIME_INVALID: AGAIN,
  METHOD_MISMATCH: AGAIN,
  PATH_MISMATCH: AGAIN,
  AUDIENCE_MISMATCH:
    'the user must set SVC_GATEWAY, or SVC_AGENT for the agent service, to the address that the service itself gives',
  NONCE_REPLAYED: AGAIN,
  OWNER_REQUIRED: OWNER,
  OWNER_IDENTITY_MISMATCH: OWNER,
  SERVICE_NOT_AUTHORIZED: OWNER,
  SHORT_URL_INVALID: '`get_link` or `put_file` gives a new one',
  SHORT_URL_EXPIRED: '`get_link` or `put_file` gives a new one',
  CONTENT_TYPE_MISMATCH: 'send the headers exactly as given',
  pay_req_not_found: 'the same call with the same intent; nothing is paid twice',
  receipt_not_found: `${LOCKERS}; was it sold by another gateway?`,
  locker_not_found: LOCKERS,
  CONTENT_NOT_FOUND: 'upload them, or `put_file` again',
  FILE_NOT_FOUND: '`list_files` shows what is there',
  FILE_NOT_ATTESTED: '`attest`, then ask again',
  statement_not_found: 'leave `sequence` out for the newest',
  SESSION_NOT_FOUND: '`put_file` again',
  delegation_not_found: 'check delegation_id; only the key that delegated sees it',
  not_in_log: 'try again after a few seconds',
  request_timeout: LATER,
  idempotency_conflict:
    'check `purchase_status`: if it was paid or is uncertain, use the earlier arguments; if not, another intent',
  attestation_not_available: '`attest` first',
  HASH_MISMATCH: '`put_file` again',
  EMPTY_FILE_LIST: '`put_file` first',
  CONTENT_HASH_CHANGED: OPERATOR,
  receipt_is_renewal: 'use the receipt of the locker, which is in details',
  LOCKER_ID_COLLISION: OPERATOR,
  payment_already_used: OPERATOR,
  TUS_CONCAT_INVALID: 'finish each of them first; `put_file` needs none',
  TUS_UPLOAD_NOT_FOUND: '`put_file` uploads without tus',
  TUS_OFFSET_MISMATCH: 'read the offset with HEAD, and continue from there',
  TUS_UPLOAD_GONE: 'create another one, or `put_file`',
  TUS_VERSION_UNSUPPORTED: 'send Tus-Resumable: 1.0.0',
  TUS_CHECKSUM_MISMATCH: 'send them again',
  SESSION_CLOSED: '`put_file` again',
  DELEGATION_LIMIT_EXCEEDED: 'end a delegation that is no longer needed',
  quote_expired: 'the same call with the same intent asks for a new one, and pays nothing twice',
  UPLOAD_TOO_LARGE: 'split the file',
  validation_error: 'read what is said about each, and correct it',
  LOCKER_FROZEN: 'tell the user to ask the operator of the gateway; files can still be read',
  LOCKER_TAKEN_DOWN: 'tell the user to ask the operator of the gateway; statements and proofs stay',
  LOCKER_LIMIT_EXCEEDED: OPERATOR,
  RATE_LIMITED: 'wait, then call again',
  internal_error: LATER,
  IAM_SIGNBLOB_PERMISSION_DENIED: OPERATOR,
  S3_DISABLED: '`put_file` and `get_link` work without them',
  anchor_failed: '`attest` again later publishes it',
  tx_not_found_on_chain: LATER,
  chain_unavailable: LATER,
  database_unavailable: LATER,
  overloaded: LATER,
  STORAGE_UNAVAILABLE: LATER,
  identity_provider_unavailable: LATER,
  gateway_unavailable: LATER,
  signing_key_unavailable: LATER,
  database_behind: 'nothing was changed: do not pay again; try later, and tell the user that the operator has to look',
  logbook_unavailable: 'do not pay again; repeat the same call later',
  LOCKER_CAPACITY_EXCEEDED: 'tell the user: `renew_locker` adds room and time for money; `delete_file` makes room',
}

/** For people at a terminal, in the commands of `svc`. */
export const COMMAND_ADVICE: Advice<string> = {
  OWNER_REQUIRED: 'only the wallet that paid may do this: give it with --wallet',
  OWNER_IDENTITY_MISMATCH: 'only the wallet that paid may do this: give it with --wallet',
  SIGNATURE_INVALID: 'is this the wallet that paid, or a current operator of the locker? `svc whoami` shows it',
  receipt_not_found: 'is this the gateway that sold it? `svc lockers` shows where each locker is',
  locker_not_found: 'a locker is opened with `svc provision RECEIPT`',
  attestation_not_available: 'run `svc attest` first',
  EMPTY_FILE_LIST: 'put files into the locker first: `svc put PATH`',
  FILE_NOT_FOUND: '`svc ls` shows what is there; folders are for `svc get` and `svc rm -r`',
  PRECONDITION_FAILED: 'it has changed in the meantime: run the same command again',
  STORAGE_UNAVAILABLE:
    'what was stored before is safe; run the same command again later, or add --wait to go on until it is back',
  EXPIRED_ENVELOPE: 'the clock of this machine may be wrong: `svc doctor` says by how much',
  ENVELOPE_NOT_YET_VALID: 'the clock of this machine may be wrong: `svc doctor` says by how much',
  HASH_MISMATCH: 'the file has changed while it was sent: run the same command again',
  RATE_LIMITED: 'run the same command again then: what is done is skipped',
  delegation_not_found: '`svc delegations` lists those of this wallet; --wallet names another',
  DELEGATION_LIMIT_EXCEEDED: '`svc delegations --end ID` ends one',
}

/** For people on the web pages. */
export const PAGE_ADVICE: Advice<readonly [title: string, next: string]> = {
  SIGNATURE_INVALID: [
    'This key does not open the locker',
    'It is neither the owner nor an operator. Use the wallet that paid, or ask the owner to add your key.',
  ],
  OWNER_REQUIRED: [
    'Only the owner may do this',
    'Operators read, write and list files. Sign with the wallet that paid.',
  ],
  EXPIRED_ENVELOPE: [
    'The signature came too late',
    'It is good for one minute. Try again and confirm in your wallet sooner. If you did, set the clock of this computer.',
  ],
  ENVELOPE_NOT_YET_VALID: [
    'The clock of this computer is ahead',
    'Set it to the right time, then load this page again.',
  ],
  AUDIENCE_MISMATCH: [
    'The gateway has another address',
    'Open this page under the address that the gateway is known by.',
  ],
  locker_not_found: ['There is no open locker with this id', 'It may be mistyped, or belong to another gateway.'],
  receipt_not_found: ['There is no such receipt', 'The id may be mistyped, or belong to another gateway.'],
  receipt_is_renewal: [
    'This receipt is of a renewal',
    'Use the receipt of the first purchase: that one opens the locker.',
  ],
  LOCKER_LIMIT_EXCEEDED: [
    'You have as many lockers as one owner may have',
    'Renew one of them instead of opening another.',
  ],
  OPERATOR_LIMIT_EXCEEDED: ['The locker has as many operators as it may have', 'Remove one first.'],
  OPERATOR_NOT_FOUND: ['This key is no longer an operator', 'It was removed already.'],
  LOCKER_CAPACITY_EXCEEDED: [
    'The locker is full or has expired',
    'Renew it, or delete files. What is there can still be read.',
  ],
  EMPTY_FILE_LIST: [
    'There is nothing to prove yet',
    'Upload a file first. Files whose bytes have not arrived do not count.',
  ],
  CONTENT_HASH_CHANGED: [
    'A file does not match its record',
    'Its bytes no longer have the hash that was recorded when it was uploaded. Upload it again, or delete it; then attest.',
  ],
  STORAGE_UNAVAILABLE: [
    'The storage behind the gateway does not answer',
    'Nothing was changed. Try again in a minute.',
  ],
  anchor_failed: [
    'The statement was made, but could not be published',
    'Publish it again in a minute; it does not cost more.',
  ],
  LOCKER_FROZEN: [
    'The operator of the gateway has frozen the locker',
    'Files can be read, but nothing can be changed. Ask the operator why.',
  ],
  LOCKER_TAKEN_DOWN: ['The operator of the gateway has taken the locker down', 'Ask the operator why.'],
}

/** A code may be of a newer service, which is not known here. */
export function adviceOn<T>(advice: Advice<T>, code: string): T | null {
  return (Object.hasOwn(advice, code) ? advice[code as ErrorCode] : null) ?? null // just looked up
}
