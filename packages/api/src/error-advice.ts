// Advice on errors for the users of each client, where `next` of the guide describes HTTP requests that they do not make.
// The lists are separate, so that a client bundles only its own.

import type { ErrorCode } from './errors.ts'

type Advice<T> = Readonly<Partial<Record<ErrorCode, T>>>

const AGAIN = 'call the tool again: it signs a new request'
const ADMIN = "tell the user that the gateway's admin must look into it"
const LATER = 'nothing was changed: call the tool again later'
const LOCKERS = '`list_lockers` shows the receipts of this wallet; nothing needs to be bought'
const OWNER = 'only the key that paid may do this: the server needs that key as SVC_WALLET'

/** For models, in the tools of `svc mcp`. A model can spend money, so none of these suggests a purchase. */
export const TOOL_ADVICE: Advice<string> = {
  leg_not_in_quote: '`quote` lists the accepted networks and assets',
  leg_incomplete: 'name both the network and the asset',
  mixed_networks: 'confirm the quotes of each network separately',
  missing_receipt_id: 'pass receipt_id, which `list_lockers` shows',
  missing_result_hash_run_storage_verify_first: 'call `attest` first',
  malformed_request: 'check the arguments',
  malformed_payment: 'sign the offer with a client of x402 version 2',
  signed_payment_not_taken: 'do not sign another: repeat the call with this one in _meta',
  MISSING_ENVELOPE: 'the server needs a key: the user must set SVC_WALLET',
  RECEIPT_ID_MISMATCH: LOCKERS,
  LOCKER_ID_MISMATCH: LOCKERS,
  UPLOAD_TOKEN_INVALID: 'call `put_file` again',
  tx_required: 'name the transaction of a payment that was made: `purchase_status` shows it',
  payment_credential_invalid: 'do not pay again; confirm with the transaction',
  tx_not_found: 'wait a few seconds and ask again; do not pay again',
  payment_verification_failed: 'do not pay again; `purchase_status` shows what was paid',
  SIGNATURE_INVALID:
    'check receipt_id with `list_lockers`; if it is right, the user must set the right key as SVC_WALLET',
  BODY_HASH_MISMATCH: AGAIN,
  MISSING_OPS: AGAIN,
  EXPIRED_ENVELOPE: AGAIN,
  ENVELOPE_NOT_YET_VALID: 'check the clock of this machine',
  ENVELOPE_LIFETIME_INVALID: AGAIN,
  METHOD_MISMATCH: AGAIN,
  PATH_MISMATCH: AGAIN,
  AUDIENCE_MISMATCH:
    'the user must set SVC_GATEWAY, or SVC_AGENT for the agent service, to the public address of that service',
  NONCE_REPLAYED: AGAIN,
  OWNER_REQUIRED: OWNER,
  OWNER_IDENTITY_MISMATCH: OWNER,
  SERVICE_NOT_AUTHORIZED: OWNER,
  SHORT_URL_INVALID: '`get_link` or `put_file` returns a new URL',
  SHORT_URL_EXPIRED: '`get_link` or `put_file` returns a new URL',
  CONTENT_TYPE_MISMATCH: 'send the headers exactly as they were returned',
  pay_req_not_found: 'repeat the call with the same intent; nothing is paid twice',
  receipt_not_found: `${LOCKERS}; the receipt may be from another gateway`,
  locker_not_found: LOCKERS,
  CONTENT_NOT_FOUND: 'upload the bytes, or call `put_file` again',
  FILE_NOT_FOUND: '`list_files` shows the files of the locker',
  FILE_NOT_ATTESTED: 'call `attest`, then try again',
  statement_not_found: 'leave `sequence` out to get the newest statement',
  SHARE_NOT_FOUND: 'the share has ended or never existed: ask the sender of the address for a new one',
  SESSION_NOT_FOUND: 'call `put_file` again',
  delegation_not_found: 'check delegation_id; only the key that made a delegation can see it',
  not_in_log: 'try again after a few seconds',
  request_timeout: LATER,
  idempotency_conflict:
    'check `purchase_status`: if it is paid or uncertain, use the earlier arguments; if not, use another intent',
  attestation_not_available: 'call `attest` first',
  HASH_MISMATCH: 'call `put_file` again',
  EMPTY_FILE_LIST: 'call `put_file` first',
  CONTENT_HASH_CHANGED: ADMIN,
  receipt_is_renewal: 'use the receipt of the locker, which is in details',
  LOCKER_ID_COLLISION: ADMIN,
  payment_already_used: ADMIN,
  TUS_CONCAT_INVALID: 'finish each partial upload first; `put_file` needs none',
  TUS_UPLOAD_NOT_FOUND: '`put_file` uploads without tus',
  TUS_OFFSET_MISMATCH: 'read the offset with HEAD, and continue from there',
  TUS_UPLOAD_GONE: 'create another upload, or call `put_file`',
  TUS_VERSION_UNSUPPORTED: 'send Tus-Resumable: 1.0.0',
  TUS_CHECKSUM_MISMATCH: 'send the bytes again',
  SHARE_LIMIT_EXCEEDED: 'tell the user to end a share that is no longer used',
  SESSION_CLOSED: 'call `put_file` again',
  DELEGATION_LIMIT_EXCEEDED: 'end a delegation that is no longer needed',
  quote_expired: 'repeat the call with the same intent: it requests a new quote and pays nothing twice',
  UPLOAD_TOO_LARGE: 'split the file',
  validation_error: 'correct each argument that the message names',
  LOCKER_FROZEN: "tell the user to ask the gateway's admin; files can still be read",
  LOCKER_TAKEN_DOWN: "tell the user to ask the gateway's admin; statements and proofs remain available",
  LOCKER_LIMIT_EXCEEDED: ADMIN,
  RATE_LIMITED: 'wait, then call again',
  internal_error: `call the tool again later; if the error persists, ${ADMIN}`,
  IAM_SIGNBLOB_PERMISSION_DENIED: ADMIN,
  S3_DISABLED: '`put_file` and `get_link` work without S3',
  anchor_failed: 'call `attest` again later to publish it',
  tx_not_found_on_chain: LATER,
  chain_unavailable: 'do not pay again; repeat the same call later',
  database_unavailable: LATER,
  overloaded: LATER,
  STORAGE_UNAVAILABLE: LATER,
  identity_provider_unavailable: LATER,
  gateway_unavailable: LATER,
  signing_key_unavailable: LATER,
  database_behind: `nothing was changed: do not pay again; try later, and ${ADMIN}`,
  logbook_unavailable: 'do not pay again; repeat the same call later',
  LOCKER_CAPACITY_EXCEEDED:
    'tell the user that the locker is full or has expired; `delete_file` frees space at no cost',
}

/** For people at a terminal, in the commands of `svc`. */
export const COMMAND_ADVICE: Advice<string> = {
  OWNER_REQUIRED: 'only the wallet that paid may do this: give it with --wallet',
  OWNER_IDENTITY_MISMATCH: 'only the wallet that paid may do this: give it with --wallet',
  SIGNATURE_INVALID:
    'use the wallet that paid, or a current operator of the locker: `svc whoami` shows the current wallet',
  receipt_not_found: 'ask the gateway that sold it: `svc lockers` shows the gateway of each locker',
  locker_not_found: '`svc provision RECEIPT` opens a locker',
  attestation_not_available: 'run `svc attest` first',
  EMPTY_FILE_LIST: 'put files into the locker first: `svc put PATH`',
  FILE_NOT_FOUND: '`svc ls` lists the files; only `svc get` and `svc rm -r` accept folders',
  PRECONDITION_FAILED: 'the file has changed in the meantime: run the same command again',
  STORAGE_UNAVAILABLE:
    'files that are already stored are safe; run the same command again later, or add --wait to continue when storage is back',
  EXPIRED_ENVELOPE: 'the clock of this machine may be wrong: `svc doctor` shows by how much',
  ENVELOPE_NOT_YET_VALID: 'the clock of this machine may be wrong: `svc doctor` shows by how much',
  HASH_MISMATCH: 'the file changed while it was sent: run the same command again',
  RATE_LIMITED: 'wait, then run the same command again: finished work is skipped',
  delegation_not_found: '`svc delegations` lists the delegations of this wallet; --wallet selects another',
  DELEGATION_LIMIT_EXCEEDED: '`svc delegations --end ID` ends a delegation',
  SHARE_NOT_FOUND: '`svc shares` lists the shares that exist',
  SHARE_LIMIT_EXCEEDED: '`svc shares` shows when each was last used; `svc shares end ID` ends one',
}

/** For people on the web pages. */
export const PAGE_ADVICE: Advice<readonly [title: string, next: string]> = {
  SIGNATURE_INVALID: [
    'This key does not open the locker',
    'It belongs to neither the owner nor an operator. Use the wallet that paid, or ask the owner to add your key.',
  ],
  OWNER_REQUIRED: [
    'Only the owner may do this',
    'Operators read, write and list files. Sign with the wallet that paid.',
  ],
  EXPIRED_ENVELOPE: [
    'The signature arrived too late',
    'A signature is valid for one minute. Try again and confirm in your wallet sooner. If that does not help, set the clock of this computer.',
  ],
  ENVELOPE_NOT_YET_VALID: [
    'The clock of this computer is ahead',
    'Set it to the right time, then load this page again.',
  ],
  AUDIENCE_MISMATCH: ['The gateway has another address', "Open this page at the gateway's public address."],
  locker_not_found: [
    'There is no open locker with this id',
    'The id may be mistyped, or the locker may be on another gateway.',
  ],
  receipt_not_found: [
    'There is no such receipt',
    'The id may be mistyped, or the receipt may be from another gateway.',
  ],
  receipt_is_renewal: [
    'This receipt is for a renewal',
    'Use the receipt of the first purchase: that one opens the locker.',
  ],
  LOCKER_LIMIT_EXCEEDED: [
    'You have the maximum number of lockers for one owner',
    'Renew one of them instead of opening another.',
  ],
  OPERATOR_LIMIT_EXCEEDED: ['The locker has the maximum number of operators', 'Remove one first.'],
  OPERATOR_NOT_FOUND: ['This key is no longer an operator', 'It has already been removed.'],
  LOCKER_CAPACITY_EXCEEDED: [
    'The locker is full or has expired',
    'Renew it, or delete files. Its files can still be read.',
  ],
  EMPTY_FILE_LIST: ['There is nothing to prove yet', 'Upload a file first. A file counts once its bytes have arrived.'],
  CONTENT_HASH_CHANGED: [
    'A file does not match its record',
    'Its bytes no longer have the hash that was recorded when it was uploaded. Upload it again, or delete it; then attest.',
  ],
  STORAGE_UNAVAILABLE: [
    "The gateway's storage provider does not answer",
    'Nothing was changed. Try again in a minute.',
  ],
  anchor_failed: [
    'The statement was made, but could not be published',
    'Publish it again in a minute, at no extra cost.',
  ],
  SHARE_NOT_FOUND: [
    'There is nothing at this address',
    'The share has ended or never existed. Ask the sender of the address for a new one.',
  ],
  SHARE_LIMIT_EXCEEDED: ['The locker has the maximum number of shares', 'End one that is no longer used.'],
  LOCKER_FROZEN: [
    "The gateway's admin has frozen the locker",
    'Files can be read, but nothing can be changed. Ask the admin why.',
  ],
  LOCKER_TAKEN_DOWN: ["The gateway's admin has taken the locker down", 'Ask the admin why.'],
}

/** The advice on a code, or null, also for the code of a newer service that is unknown here. */
export function adviceOn<T>(advice: Advice<T>, code: string): T | null {
  return (Object.hasOwn(advice, code) ? advice[code as ErrorCode] : null) ?? null // just looked up
}
