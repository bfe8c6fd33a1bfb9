// The tables of the gateway. A time in a text column is ISO 8601 in UTC; a time in a number column is Unix seconds. The
// tables of the queue and of the guard use their own units, which they document. Paid amounts are decimal text; fees
// and rent in lamports are numbers.

import type { Reader } from '@svc/database/open'
import type { QueueTables } from '@svc/database/queue/tables'
import type { GuardTables } from '@svc/service/guard/tables'
import type { Generated, Selectable, Transaction } from 'kysely'

export type Db = Reader<Schema>
export type Tx = Transaction<Schema>
export type Locker = Selectable<LockerTable>
export type FileRow = Selectable<FileTable>

export interface Schema extends QueueTables, GuardTables {
  signing_keys: SigningKeyTable
  announced_keys: AnnouncedKeyTable
  key_changes: KeyChangeTable
  pay_requests: PayRequestTable
  watched_quotes: WatchedQuoteTable
  quote_templates: QuoteTemplateTable
  idempotency_keys: IdempotencyKeyTable
  payment_transactions: PaymentTransactionTable
  payment_authorizations: PaymentAuthorizationTable
  unclaimed_payments: UnclaimedPaymentTable
  receipts: ReceiptTable
  owners: OwnerTable
  lockers: LockerTable
  locker_operators: LockerOperatorTable
  x402_settlements: X402SettlementTable
  files: FileTable
  objects: ObjectTable
  direct_uploads: DirectUploadTable
  s3_folders: S3FolderTable
  settling_objects: SettlingObjectTable
  upload_sessions: UploadSessionTable
  upload_session_files: UploadSessionFileTable
  upload_parts: UploadPartTable
  tus_uploads: TusUploadTable
  attestations: AttestationTable
  statements: StatementTable
  snapshots: SnapshotTable
  snapshot_chunks: SnapshotChunkTable
  snapshot_border_key: SnapshotBorderKeyTable
  cron_failures: CronFailureTable
  payment_codes: PaymentCodeTable
  publications: PublicationTable
  log_cosignatures: LogCosignaturesTable
  log_witnesses: LogWitnessTable
  log_anchors: LogAnchorTable
  registry_entries: RegistryEntryTable
  spending: SpendingTable
  budget_days: BudgetDayTable
  delivered_contents: DeliveredContentTable
  renewals: RenewalTable
  locker_egress: LockerEgressTable
  audit_log: AuditLogTable
  refunds: RefundTable
  growth_samples: GrowthSampleTable
  sales_periods: SalesPeriodTable
  s3_keys: S3KeyTable
  shares: ShareTable
  uncounted_receipts: { receipt_id: string }
  revocations: RevocationTable
  logbooks: LogbookTable
  journal_pending: JournalPendingTable
  journal_files: JournalFileTable
  logs: LogTable
  log_entries: LogEntryTable
  log_checkpoints: LogCheckpointTable
}

/** The transparency log of this database: one row. */
export interface LogTable {
  origin: string
  public_key_hex: string
}

/** A trigger inserts a row for each statement. The index of an entry in the log never changes. */
export interface LogEntryTable {
  statement_digest: string
  /** From 0; null while it waits. */
  entry_index: number | null
  /** The order of arrival of waiting entries. */
  position: number | null
  /** Null for an entry that was restored from the published log, until its statement is restored. */
  receipt_id: string | null
  sequence: number | null
}

/** The checkpoints that the log has signed, stored before publication. */
export interface LogCheckpointTable {
  size: number
  /** Hex. */
  root: string
  /** The signed text. */
  note: string
  signed_at: number
}

/** Changes of access. The journal has the same entries, in case the database is restored to an earlier state. */
export interface RevocationTable {
  revocation_id: string
  /** Unix seconds. */
  revoked_at: number
  /** JSON. */
  revoked: string
}

/** A process of a replica with PostgreSQL, and the journal that it writes. */
export interface LogbookTable {
  process_id: string
  /** The processes of one machine share it. */
  logbook_id: string
  host: string
  /** The database history that contains all of the journal's entries; null when some are missing. */
  complete_on: string | null
  /** Unix seconds, by the clock of the database. */
  seen_at: number
}

/** A committed document that may not be in the journal yet. See `continuity/documents.ts`. */
export interface JournalPendingTable {
  kind:
    | 'receipt'
    | 'refund'
    | 'unclaimed'
    | 'locker'
    | 'access'
    | 'statement'
    | 'publication'
    | 'log_anchor'
    | 'checkpoint'
  key: string
}

/** How many bytes of a journal file the database contains. */
interface JournalFileTable {
  file: string
  read_to: number
}

/** Every key that ever signed receipts and statements. Retired keys stay, so that old signatures can be verified. */
export interface SigningKeyTable {
  public_key_hex: string
  valid_from: string
  valid_to: string | null
  /** Signatures after this time may be forged with a stolen key. */
  revoked_since: Generated<string | null>
}

/**
 * Keys that will sign later. They are separate from keys that have signed, because earlier releases treat every row
 * there as such a key.
 */
export interface AnnouncedKeyTable {
  public_key_hex: string
  purpose: string
  valid_from: string
  announced_at: string
}

/** Signed documents about keys, which clients verify. */
interface KeyChangeTable {
  kind: 'endorsement' | 'revocation'
  purpose: string
  /** The key that is endorsed or revoked. */
  public_key_hex: string
  signed_by: string
  document: string
  issued_at: string
}

/** A quote, which fixes the required payment. A paid quote is never deleted. */
export interface PayRequestTable {
  pay_req_id: string
  created_at: number
  expires_at: number
  provider: string
  units: number
  /** The body of the 402 response; empty when it is created from a template. */
  quote: string
  template_id: string | null
}

/** A quote for which the gateway watches for a Solana Pay payment. Times are Unix seconds. */
export interface WatchedQuoteTable {
  pay_req_id: string
  watched_at: number
  watched_until: number
  /** The time of the next check. The process that advances it makes the check. */
  due_at: number
  looked_at: number | null
  /** The newest transaction that was read and does not pay: it and older ones are not read again. */
  passed_tx: string | null
  /** The transaction that paid, and the ticker of the leg, once found. */
  tx: string | null
  asset: string | null
}

/** The common part of quotes for the same order at the same rates. Deleted when no quote uses it. */
export interface QuoteTemplateTable {
  /** Derived from the SHA-256 of the template. */
  template_id: string
  template: string
  /** When it was last stored, in Unix seconds. A gateway that uses it for quotes stores it again every hour. */
  stored_at: number
}

interface IdempotencyKeyTable {
  idempotency_key: string
  /** SHA-256 of the canonical body of the key's first request. */
  body_sha256: string
  pay_req_id: string
  created_at: number
}

/**
 * A transaction that paid for something. A single purchase uses all of it; a batch divides it among several receipts.
 */
export interface PaymentTransactionTable {
  network: string
  tx: string
  /**
   * `refund`: no receipt claims it, and the admin refunds part of it. `lost`: release 1.1.0 has lost its receipts, and
   * no quote can claim it.
   */
  kind: 'single' | 'batch' | 'authorizations' | 'refund' | 'lost'
  /** With several authorizations, the payer of the first one claimed. */
  payer: string
  /** Ticker. A row counts one asset; other assets in the same transaction are ignored. */
  asset: string
  /** Atomic units received, and those that receipts account for; decimal text. */
  received: string
  bound: string
}

/**
 * The quote that a signed authorization pays. A row is never released, because the authorization may be used at any
 * time.
 */
export interface PaymentAuthorizationTable {
  network: string
  authorization_id: string
  pay_req_id: string
}

/**
 * A payment of a known quote for which no receipt accounted, or only in part, when it was recorded. Its current status
 * follows from `receipts` and `refunds`.
 */
export interface UnclaimedPaymentTable {
  network: string
  tx: string
  /** Ticker. */
  asset: string
  /** The quote that it was made for; an unpaid quote may be deleted. */
  pay_req_id: string
  reason: 'quote_already_paid' | 'after_quote' | 'amount_too_small' | 'overpaid'
  payer: string
  /** Atomic units received in this asset; decimal text. */
  received: string
  noted_at: string
}

export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  payer: string
  /** The signed receipt, as returned to clients. */
  receipt: string
  /** From the receipt; empty when a release up to 1.0.0 inserted the row during a rolling update. */
  confirmed_at: Generated<string>
}

/** Counts the lockers of an owner, so that the limit is checked by one conditional update. */
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
  /** JSON array of base58 keys, in the order of addition. */
  operators: string
  /** JSON object: the key of an operator → the access epoch of its addition. Epoch 0 is omitted. */
  operator_epochs: Generated<string>
  /** Increases when an operator is removed, and when the owner revokes all URLs and upload sessions. */
  access_epoch: Generated<number>
  /** URLs and upload sessions of earlier epochs are revoked. */
  revoked_before: Generated<number>
  /** Opens the public link instead of the receipt id; null until the owner rotates the link. */
  link_handle: Generated<string | null>
  /** 1 while the owner has closed the public link. */
  link_closed: Generated<number>
  /** Whether statements are published one by one, or by the checkpoints of the log. */
  anchoring: Generated<'each' | 'log'>
  /** Set by the gateway's admin, with the time and a notice to the owner. */
  restriction: Generated<'frozen' | 'taken_down' | null>
  restricted_at: Generated<string | null>
  restriction_notice: Generated<string | null>
  /** Increases with every change to the set of (filename, size, hash). */
  manifest_version: number
  manifest_changed_at: string | null
  /** Entries of the manifest, and the bytes of the confirmed ones. */
  file_count: number
  total_bytes: number
  /** The bytes of unconfirmed objects; unknown for objects of releases up to 1.0.0. */
  unconfirmed_bytes: Generated<number>
  /** Bytes paid for at a provider that never deletes. */
  delivered_bytes: number
}

/** A long-lived key for S3 clients. Its secret is not stored: it is derived from the row and a key of the gateway. */
export interface S3KeyTable {
  access_key_id: string
  /** Empty for all lockers that the wallet of `minted_by` owns. */
  locker_id: string
  name: string
  access: 'read' | 'write'
  /** Empty for the whole locker. */
  prefix: string
  /** Who created it, and the locker's access epoch at that time. */
  minted_by: string
  minted_epoch: number
  /** For a key of all lockers, JSON: the epoch of each locker with an earlier revocation. */
  minted_epochs?: string | null | undefined
  created_at: number
  expires_at: number
  /** Written at most once an hour. */
  last_used_at: number | null
}

/** One file or folder of a locker that anyone may read who has the id of the share. */
export interface ShareTable {
  /** 16 random bytes in hex. The id that opens the share follows from it and the key for short URLs. */
  seed: string
  locker_id: string
  /** The name of a file, or a folder with its final slash. */
  path: string
  label: string | null
  /** Who created it, and the locker's access epoch at that time. */
  minted_by: string
  minted_epoch: number
  created_at: number
  /** Null for a share that does not expire. */
  expires_at: number | null
  /** Written at most once an hour. */
  last_used_at: number | null
}

/** An index of the lockers that a key operates. `operators` of the locker alone decides who has access. */
interface LockerOperatorTable {
  operator: string
  receipt_id: string
  /** From the receipt. */
  confirmed_at: string
}

/**
 * A name in a locker. It points at the object with its bytes. The hash is set once it is computed from those bytes, and
 * cleared by a new object. The `upload_` columns apply to the next upload.
 */
interface FileTable {
  locker_id: string
  filename: string
  content_type: string
  expected_hash: string | null
  object_id: string | null
  provider_ref: string | null
  /**
   * The size of the object; null for objects of releases up to 1.0.0. For a confirmed file, `size_bytes` is
   * authoritative.
   */
  object_bytes: Generated<number | null>
  size_bytes: number | null
  content_hash: string | null
  uploaded_at: string | null
  hash_recorded_at: string | null
  upload_content_type: string
  upload_expected_hash: string | null
  /** The newest pending direct upload of a client to the provider; null for none. */
  upload_object_id: string | null
  /** Canonical JSON of the headers that an S3 client stored with the object; null for none. */
  metadata: Generated<string | null>
}

/**
 * A key of the S3 endpoint that ends with a slash and has no bytes. It is not a file and does not appear in the
 * manifest or in statements.
 */
export interface S3FolderTable {
  locker_id: string
  /** Includes the final slash. */
  folder: string
  content_type: string
  /** Canonical JSON of the headers that the client sent; null for none. */
  metadata: string | null
  created_at: number
}

/**
 * Every object that is or may be at a provider. The row is inserted before the first byte is written and deleted after
 * the object is removed.
 */
export interface ObjectTable {
  object_id: string
  provider: string
  provider_ref: string | null
  /** `held`: used by a file or an upload session. After a while, the sweep removes objects in the other states. */
  state: 'writing' | 'held' | 'released'
  since: number
  /** The locker that holds it, or held it; null before, and in rows of earlier releases. */
  locker_id: string | null
  /** Null before a locker holds it, and while its bytes arrive in parts. */
  size_bytes: number | null
}

/**
 * An object that a client uploads to the provider directly. The file adopts it once its bytes are found there. The row
 * is deleted when the object is adopted or abandoned, and when the file gets newer bytes or is deleted.
 */
export interface DirectUploadTable {
  object_id: string
  locker_id: string
  filename: string
  /** The content type for which the URL was signed. */
  content_type: string
  expected_hash: string | null
  /** Who requested the URL, and the access epoch; null for URLs of releases up to 1.0.0. */
  minted_by: string | null
  minted_epoch: number | null
  /** Grows with each direct upload that begins while others of the file are pending. */
  position: number
  /** The announced size; null when none was announced, and for uploads of earlier releases. */
  promised_bytes: number | null
  /** When the sweep checks it next, in Unix seconds; null for uploads of earlier releases. */
  look_at: number | null
}

/** Confirmed bytes that wait in the staging folder for delivery to a slow provider. */
export interface SettlingObjectTable {
  object_id: string
  locker_id: string
  provider: string
  content_type: string
  size_bytes: number
  /** Hex. */
  sha256: string
  /**
   * The progress as JSON, recorded before each step at the provider. While it is null, the delivery can be cancelled.
   */
  notes: string | null
  since: number
  /** When a run last worked on it. */
  seen_at: number
  /** 1: the terms of the locker do not cover it, so it stays staged. */
  is_held_back: number
}

export interface UploadSessionTable {
  session_id: string
  locker_id: string
  /** SHA-256 of the token, hex. The token itself is not stored. */
  token_hash: string
  /** Who opened it, and the locker's access epoch; null for sessions of releases up to 1.0.0. */
  minted_by: string | null
  minted_epoch: number | null
  /** The long-lived S3 key that opened the session and ends it when revoked; null for all others. */
  s3_key: string | null
  /** The protocol of its parts; null for upload sessions, which a token opens. */
  door: 's3' | 'tus' | null
  status: 'partial' | 'complete' | 'failed'
  /** Null for sessions of releases up to 1.0.0. */
  opened_at: number | null
  expires_at: number
  /** When the session ended, even if it remains partial. */
  closed_at: number | null
  /** The worker that assembles the files, and the end of its lease. */
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
  /** The file's stored headers, in the format of its protocol. */
  metadata: string | null
  /** The checksum that the client uses for parts and file, if it announced one. */
  checksum_algorithm: string | null
  checksum_type: string | null
  /** The checksum of the chosen parts together. */
  checksum: string | null
  state: 'open' | 'stored' | 'failed'
  /** Updated with each part, so that no query has to add them up. */
  received_bytes: number
  /** Bytes of rejected or replaced parts that stay in the file's object until it is removed. */
  stray_bytes: number
  part_count: number
  /** The highest part index received so far; -1 before the first. */
  top_index: number
  /** Increases with every part, so that the worker detects a part that arrives while it assembles. */
  revision: number
  /** The revision in which the client chose the parts of the file, whose indexes may then have gaps. */
  chosen_revision: number | null
  /** A digest of the client's choice. */
  chosen_parts: string | null
  /** The only object that the file may replace, empty for none; null when it may replace any. */
  replaces: string | null
  /** Set for a stored file, and for one that failed because of its hash. */
  content_hash: string | null
  /** The error code of a failed file. */
  error: string | null
  /** The object into which large parts are written directly; null until there is one, and at the end. */
  object_id: string | null
  /** The provider's reference for continuing the upload; null until it has begun. */
  upload_ref: string | null
  /** `open`: accepts parts. `sealed`: is being completed. `complete`: can be read. */
  upload_state: 'open' | 'sealed' | 'complete' | null
}

/** The data of a tus upload besides its session and its one file. */
export interface TusUploadTable {
  session_id: string
  /** `partial`: only to be joined. `final`: joined from others. */
  kind: 'whole' | 'partial' | 'final'
  /** The header as the client sent it. */
  upload_metadata: string | null
  /** For a final upload: the partial uploads, as the client named them. */
  upload_concat: string | null
  /** The length of its blocks. */
  block_bytes: number
}

export interface UploadPartTable {
  session_id: string
  file_id: string
  part_index: number
  /** Its own object, or the file's object. */
  object_id: string
  size_bytes: number
  /** A SHA-256 in hex, or a checksum in the format of `parts/part-digest.ts`. */
  sha256: string
  /** Base64, of the file's algorithm. */
  checksum: string | null
  /** Null for parts of releases up to 1.0.0. */
  received_at: number | null
  /** The provider's name for a part in the file's object; null for a separate object. */
  part_ref: string | null
  /** The part's offset in the file's object, once that is complete. */
  part_start: number | null
}

/**
 * A payment that the gateway sends for its payer, recorded before it is sent. Sending it again has the same outcome.
 */
export interface X402SettlementTable {
  /** A quote has only one settlement, so two signatures for it are not two payments. */
  pay_req_id: string
  network: string
  /** Mint or contract of the asset. */
  asset: string
  /** Unique per network: payer and nonce of the authorization, or the hash of the signed message. */
  payment_id: string
  tx: string
  /** The transaction as it is sent. */
  raw: string
  /** The height of the chain when it was sent. */
  height: number
  /** Set once the payment was made in an unknown transaction: the block at which the search continues. */
  searched_to: number | null
}

/** The state of a receipt's attestation. No row: it was never requested. */
export interface AttestationTable {
  receipt_id: string
  locker_id: string
  /** Constant over all statements; null before the first, and for records of the oracle era. */
  proof_id: string | null
  /** Null for records older than this column that name a transaction: they count as final (STATE-14). */
  status: 'pending' | 'computed' | 'pushing' | 'complete' | null
  /** The sequence of the newest statement; 0 for a record of the oracle era, null for a pending stub. */
  sequence: number | null
  /** The manifest version of the newest statement. A higher version of the locker makes the statement stale. */
  manifest_version: number | null
  /** When the newest statement was issued. */
  attested_at: number | null
  /** When it entered this status; null when unknown. */
  status_since: number | null
  /** JSON of the last failed attempt to publish the newest statement. */
  anchor_error: string | null
  /** JSON of the reason why publishing the newest statement is deferred, and until when. */
  deferral: string | null
  /**
   * When publishing the newest statement is due again, in Unix seconds, whatever the status of its job. Null when it is
   * published or sent, need not be published, or requires the admin.
   */
  push_at: number | null
  /**
   * When the locker has its full daily allowance of statements again, in Unix milliseconds; null before the first
   * counted one.
   */
  whole_budget_at: number | null
  /** The last statement that this database has lost permanently: a later one continues after it. Null for none. */
  lost_sequence: number | null
  lost_digest: string | null
}

/** Every statement ever made. Its files are in its snapshot. Only the anchor is written later. */
export interface StatementTable {
  receipt_id: string
  /** From 1; 0 is a record of the oracle era, which has no envelope. */
  sequence: number
  locker_id: string
  snapshot_key: string
  statement_digest: string | null
  /** JSON of the record as returned to clients, without files, status, anchor and error. */
  record: string
  /** JSON of the anchor that publishes this statement. */
  anchor: string | null
  issued_at: number
}

/** A transaction that publishes a statement, recorded before it is sent. */
export interface PublicationTable {
  /** Its signature. */
  tx: string
  receipt_id: string
  sequence: number
  /** JSON of the anchor, with the fields that are known before the transaction lands. */
  draft: string
  /** The transaction as it is sent. */
  raw: string
  /** No block above this height can contain it. */
  last_valid_height: number
  /** Unique indexes: one `sent` per receipt, and one per statement that is `sent`, `landed` or `finalized`. */
  state: 'sent' | 'landed' | 'finalized' | 'failed' | 'expired'
  /** The fee, and the rent deposited in accounts less the rent refunded; known once the transaction has landed. */
  fee_lamports: number | null
  rent_lamports: number | null
  sent_at: number
}

/** The cosignatures of witnesses for a checkpoint of the log. */
export interface LogCosignaturesTable {
  /** The size of the checkpoint. */
  size: number
  /** Signature lines, in the format of a note. */
  lines: string
  /** 1 if they satisfy the policy of the gateway. */
  is_quorum: number
}

/** The last response of a witness of the policy. */
export interface LogWitnessTable {
  /** Its encoded key. */
  witness: string
  /** The size that it cosigned last; 0 before the first time. */
  size: number
  cosigned_at: number | null
  /** Null while it responds. */
  failing_since: number | null
  problem: string | null
}

/** A transaction that publishes a checkpoint of the log. */
export interface LogAnchorTable {
  /** Its signature. */
  tx: string
  /** The size of the checkpoint. */
  size: number
  /** JSON of the memo's content. */
  payload: string
  signer: string
  /** The transaction as it is sent. */
  raw: string
  /** No block above this height can contain it. */
  last_valid_height: number
  /** Unique indexes: one is `sent`, and one for each size is `sent`, `landed` or `finalized`. */
  state: PublicationTable['state']
  /** Known once the transaction has landed. */
  slot: number | null
  block_time: number | null
  fee_lamports: number | null
  sent_at: number
}

/** The entry that the EVM registry should contain for a receipt: its newest published statement. */
export interface RegistryEntryTable {
  receipt_id: string
  sequence: number
  merkle_root: string
  /** The slot of the anchor on the primary chain; 0 for none. */
  slot: number
  file_count: number
  attested_at: number
  state: 'waiting' | 'sent' | 'done'
  /** Recorded before it is sent. */
  tx: string | null
  raw: string | null
  /** Set once the transaction is final; null also if the registry already had the entry. */
  block: number | null
  /** Decimal text. */
  fee_wei: string | null
  /** The error of the last attempt, if it failed. */
  error: string | null
  since: number
  /** The budget allows no attempt before this time. */
  deferred_until: number | null
}

/** The confirmed files of a locker at one time. Equal lists share a row; rows are written once and never change. */
export interface SnapshotTable {
  /** SHA-256 over the ids of the chunks, hex. */
  snapshot_key: string
  file_count: number
  /** Decimal text. */
  total_bytes: string
  /** Includes the prefix. */
  merkle_root: string
  manifest_digest: string
  /** See `db/chunk-list.ts`. */
  chunk_list: Uint8Array
  /** The Merkle node of every block of leaves, 32 bytes each. */
  block_nodes: Uint8Array
}

/** A run of consecutive files, which many snapshots may share. */
export interface SnapshotChunkTable {
  /** SHA-256 of the content, hex. */
  chunk_id: string
  /** See `evidence/snapshots/chunk-content.ts`. */
  content: string
}

/** One random key per database. Without it, a client could choose files that make all chunks tiny or huge. */
interface SnapshotBorderKeyTable {
  border_key: string
}

/** Receipts whose scheduled re-attestation failed. They are skipped for a while, so that they do not delay others. */
interface CronFailureTable {
  receipt_id: string
  failed_at: number
  retry_at: number
}

/** The code of a receipt's payment, and the memo that publishes it, if any. */
export interface PaymentCodeTable {
  receipt_id: string
  att_code: number
  recorded_at: number
  /** The transaction of the memo, recorded before it is sent. */
  tx: string | null
  raw: string | null
  last_valid_height: number | null
  /** Set once it has landed. */
  slot: number | null
}

/** A transaction that the gateway pays for, charged to the caller who caused it. Stored as long as limits need it. */
export interface SpendingTable {
  tx: string
  /** Part of a hash. */
  who: string
  budget: string
  /** The maximum cost, in lamports or gwei. */
  amount: number
  noted_at: number
}

/** The maximum that a budget has spent on a day. */
export interface BudgetDayTable {
  budget: string
  /** Days since 1970, in UTC. */
  day: number
  amount: number
  transactions: number
  /** The daily limit that rejected a transaction, which is reported once. */
  exhausted_limit: number | null
}

/** Content paid for at a provider that never deletes. The same bytes of a locker are paid for once. */
export interface DeliveredContentTable {
  locker_id: string
  /** Hex. */
  sha256: string
  content_type: string
  /** The object whose delivery paid for it. */
  object_id: string
  /** Null until the provider has it permanently. */
  provider_ref: string | null
}

/** A purchase that extended and enlarged a locker, in the transaction that inserted the row. */
export interface RenewalTable {
  /** The receipt of the renewal. */
  receipt_id: string
  locker_id: string
  /** JSON of the terms that it bought. */
  terms: string
  renewed_at: number
}

/** Egress of a locker's files. Each process adds its counts in memory every few seconds. */
interface LockerEgressTable {
  locker_id: string
  bytes: number
}

/**
 * Manual actions. Rows are only ever added: triggers reject anything else, and each row contains the hash of the
 * previous one.
 */
export interface AuditLogTable {
  /** From 1, without gaps. */
  sequence: number
  at: string
  actor: string
  action: string
  target: string
  outcome: 'done' | 'refused'
  reason: string
  /** JSON object. */
  details: string
  /** Hex; 64 zeros in the first row. */
  previous_hash: string
  hash: string
}

/**
 * A payment that the admin has decided to refund. A payment may have several refunds, in one asset or in several.
 * Inserting a row requires the lock of the payment's row in `payment_transactions`.
 */
export interface RefundTable {
  network: string
  tx: string
  /** From 0 in each transaction. */
  position: number
  asset: string
  /** Atomic units to refund, and all that were received in this asset; decimal text. */
  amount: string
  received: string
  /** Null until it is sent. */
  refund_tx: string | null
  decided_by: string
  decided_at: string
  reason: string
}

/** One row per hour for ninety days, then one per day. */
export interface GrowthSampleTable {
  sampled_at: number
  lockers: number
  files: number
  bytes: number
  purchases: number
}

/**
 * Sales per hour and per day, so that a chart need not read every receipt. A trigger inserts each new receipt into
 * `uncounted_receipts`; counting moves it from there to this table in one transaction.
 */
export interface SalesPeriodTable {
  period: 'hour' | 'day'
  start: number
  network: string
  asset: string
  provider: string
  purchases: number
  renewals: number
  units: number
  /** Atomic units, decimal text. */
  paid: string
  usd_micros: number
}
