// The tables of the gateway. A time in a text column is ISO 8601 in UTC; a time in a number column is Unix seconds.
// The tables of the queue and of the guard have units of their own and say so. Amounts that were paid are decimal text;
// fees and rent in lamports are numbers.

import type { GuardTables } from '@svc/guard/tables'
import type { QueueTables } from '@svc/queue/tables'
import type { Kysely, Selectable } from 'kysely'

export type Db = Kysely<Schema>
export type Locker = Selectable<LockerTable>
export type FileRow = Selectable<FileTable>

export interface Schema extends QueueTables, GuardTables {
  signing_keys: SigningKeyTable
  pay_requests: PayRequestTable
  idempotency_keys: IdempotencyKeyTable
  payment_transactions: PaymentTransactionTable
  receipts: ReceiptTable
  owners: OwnerTable
  lockers: LockerTable
  x402_settlements: X402SettlementTable
  files: FileTable
  objects: ObjectTable
  settling_objects: SettlingObjectTable
  upload_sessions: UploadSessionTable
  upload_session_files: UploadSessionFileTable
  upload_parts: UploadPartTable
  attestations: AttestationTable
  statements: StatementTable
  snapshots: SnapshotTable
  snapshot_chunks: SnapshotChunkTable
  snapshot_border_key: SnapshotBorderKeyTable
  cron_failures: CronFailureTable
  payment_codes: PaymentCodeTable
  publications: PublicationTable
  registry_entries: RegistryEntryTable
}

/** Every key that has signed receipts and statements; retired ones stay, so that what they signed stays checkable. */
export interface SigningKeyTable {
  public_key_hex: string
  valid_from: string
  valid_to: string | null
}

/** A quote, kept for ever: it fixes what a payment must be. */
export interface PayRequestTable {
  pay_req_id: string
  created_at: number
  expires_at: number
  provider: string
  units: number
  /** The whole body of the 402, as it was answered. */
  quote: string
}

interface IdempotencyKeyTable {
  idempotency_key: string
  /** SHA-256 of the canonical body the key came with. */
  body_sha256: string
  pay_req_id: string
  created_at: number
}

/** One row for each transaction that paid something. A plain purchase takes it whole; a batch shares it out. */
export interface PaymentTransactionTable {
  network: string
  tx: string
  kind: 'single' | 'batch'
  payer: string
  /** Ticker. A row counts one asset; whatever else the transaction may have brought is not sold for. */
  asset: string
  /** Atomic units that arrived, and how much of them receipts account for; decimal text. */
  received: string
  bound: string
}

export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  payer: string
  /** The signed receipt, as it is answered. */
  receipt: string
}

/** Counts lockers, so that the cap of an owner is one conditional update. */
interface OwnerTable {
  owner: string
  locker_count: number
}

interface LockerTable {
  locker_id: string
  receipt_id: string
  owner: string
  network: string
  provider: string
  /** JSON. */
  tags: string
  terms: string
  created_at: string
  expires_at: string
  /** JSON array of base58 keys, in the order they were added. */
  operators: string
  /** Grows with every change of the set of (filename, size, hash). */
  manifest_version: number
  manifest_changed_at: string | null
  /** Entries of the manifest, and the bytes of the confirmed ones. */
  file_count: number
  total_bytes: number
}

/**
 * A name in a locker. It points at the object that holds its bytes, and knows their hash once that was computed from
 * them; a new object clears it. What was locked for the next upload applies from that upload on.
 */
interface FileTable {
  locker_id: string
  filename: string
  content_type: string
  expected_hash: string | null
  object_id: string | null
  provider_ref: string | null
  size_bytes: number | null
  content_hash: string | null
  uploaded_at: string | null
  hash_recorded_at: string | null
  upload_content_type: string
  upload_expected_hash: string | null
  /** Where a client was sent to upload by itself; adopted when its bytes are found there. */
  upload_object_id: string | null
}

/** Everything that is, or may be, at a provider. A row is written before the first byte, and goes after the last. */
export interface ObjectTable {
  object_id: string
  provider: string
  provider_ref: string | null
  /** `held` by a file entry or an upload session; the others belong to nobody, after a while. */
  state: 'writing' | 'held' | 'released'
  since: number
}

/** Confirmed bytes that are to move on from where they are staged to a provider that takes its time. */
export interface SettlingObjectTable {
  object_id: string
  locker_id: string
  provider: string
  content_type: string
  size_bytes: number
  /** Hex. */
  sha256: string
  /** JSON of what is noted before anything is done there; null until then, and until then it can be called off. */
  notes: string | null
  since: number
  /** When somebody last went about it. */
  seen_at: number
}

export interface UploadSessionTable {
  session_id: string
  locker_id: string
  /** SHA-256 of the token, hex: the token itself is with its holder only. */
  token_hash: string
  status: 'partial' | 'complete' | 'failed'
  expires_at: number
  /** When it came to its end, also one that stays partial. */
  closed_at: number | null
  /** Who puts its files together, and until when nobody else does. */
  lease_id: string | null
  lease_until: number | null
}

export interface UploadSessionFileTable {
  session_id: string
  file_id: string
  filename: string
  content_type: string
  size_bytes: number | null
  expected_hash: string | null
  state: 'open' | 'stored' | 'failed'
  /** Counted with each part, so that nothing need be added up. */
  received_bytes: number
  part_count: number
  /** The highest index that ever came; -1 before the first. */
  top_index: number
  /** Grows with every part: who puts them together sees that one came meanwhile. */
  revision: number
  /** Of a stored file; of a failed one, where its hash is what is wrong. */
  content_hash: string | null
  /** Of a failed one, as an error code. */
  error: string | null
}

export interface UploadPartTable {
  session_id: string
  file_id: string
  part_index: number
  object_id: string
  size_bytes: number
  /** Hex. */
  sha256: string
}

/** A payment that its payer only signed, noted before it is sent: whoever shows it again gets what it led to. */
export interface X402SettlementTable {
  /** A quote has one settlement at a time: two signatures for it are not two payments. */
  pay_req_id: string
  network: string
  /** What the leg is paid in: mint or contract. */
  asset: string
  /** Unique with its network: the authorization's payer and nonce, or the hash of the message that was signed. */
  payment_id: string
  tx: string
  /** The transaction as it is sent. */
  raw: string
  /** Where the chain stood when it was sent. */
  height: number
}

/** Where the attestation of a receipt stands. No row: never asked for. */
export interface AttestationTable {
  receipt_id: string
  locker_id: string
  /** Constant over all statements; null before the first, and for records of the oracle era. */
  proof_id: string | null
  /** Null for records older than the field: they count as final. */
  status: 'pending' | 'computed' | 'pushing' | 'complete' | null
  /** Of the newest statement; 0 for a record of the oracle era, null for a pending stub. */
  sequence: number | null
  /** What the newest statement is about: a higher one of the locker makes it stale. */
  manifest_version: number | null
  /** When the newest statement was issued. */
  attested_at: number | null
  /** Since when it has this status; null where nobody knows. */
  status_since: number | null
  /** JSON of the last failed attempt to publish the newest statement. */
  anchor_error: string | null
}

/** Every statement ever made; its files are in its snapshot. Written once, but for its anchor. */
export interface StatementTable {
  receipt_id: string
  /** From 1; 0 is a record of the oracle era, which has no envelope. */
  sequence: number
  locker_id: string
  snapshot_key: string
  statement_digest: string | null
  /** JSON: the record as it is answered, without files, status, anchor and error. */
  record: string
  /** JSON of the anchor that publishes this statement. */
  anchor: string | null
  issued_at: number
}

/** A transaction that publishes a statement, noted before it is sent. */
export interface PublicationTable {
  /** Its signature. */
  tx: string
  receipt_id: string
  sequence: number
  /** JSON of the anchor, as far as it is known before the chain has the transaction. */
  draft: string
  /** The transaction as it is sent. */
  raw: string
  /** No block above this height can hold it. */
  last_valid_height: number
  /** One is `sent` for a receipt at a time; none is sent again for a statement that has one which may be good. */
  state: 'sent' | 'landed' | 'finalized' | 'failed' | 'expired'
  /** What it cost, and what it put into accounts beyond what it got back out of them; known once it has landed. */
  fee_lamports: number | null
  rent_lamports: number | null
  sent_at: number
}

/** What the registry on the EVM chain is to say of a receipt: its newest published statement. */
export interface RegistryEntryTable {
  receipt_id: string
  sequence: number
  merkle_root: string
  /** Of the anchor on the primary chain; 0 where there is none. */
  slot: number
  file_count: number
  attested_at: number
  state: 'waiting' | 'sent' | 'done'
  /** Noted before it is sent. */
  tx: string | null
  raw: string | null
  /** Once it is final; null also where the registry had the entry already. */
  block: number | null
  /** Decimal text. */
  fee_wei: string | null
  /** Of the last attempt, where it failed. */
  error: string | null
  since: number
}

/** The confirmed files of a locker at one moment. Equal lists share a row; rows are written once and never change. */
export interface SnapshotTable {
  /** SHA-256 over the ids of the chunks, hex. */
  snapshot_key: string
  file_count: number
  /** Decimal text. */
  total_bytes: string
  /** With their prefix. */
  merkle_root: string
  manifest_digest: string
  /** See `attestations/snapshots/chunk-list.ts`. */
  chunk_list: Uint8Array
  /** The Merkle node of every block of leaves, 32 bytes each. */
  block_nodes: Uint8Array
}

/** A stretch of rows, which many snapshots share. */
export interface SnapshotChunkTable {
  /** SHA-256 of the content, hex. */
  chunk_id: string
  /** See `attestations/snapshots/chunk-content.ts`. */
  content: string
}

/** One row, random for each database: who does not know it cannot choose files whose chunks are all tiny or huge. */
interface SnapshotBorderKeyTable {
  border_key: string
}

/** Lockers that could not be attested again when they were due: they wait, so that others have their turn. */
interface CronFailureTable {
  receipt_id: string
  failed_at: number
}

/** The code of a receipt's payment, and the memo that publishes it, where one does. */
export interface PaymentCodeTable {
  receipt_id: string
  att_code: number
  recorded_at: number
  /** Of the memo, noted before it is sent. */
  tx: string | null
  raw: string | null
  last_valid_height: number | null
  /** Once it has landed. */
  slot: number | null
}
