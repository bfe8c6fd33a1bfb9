// The tables of the gateway. A time in a text column is ISO 8601 in UTC; a time in a number column is Unix seconds.
// The tables of the queue and of the guard have units of their own and say so. Amounts that were paid are decimal text;
// fees and rent in lamports are numbers.

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

/** A trigger adds a row for each statement. Its place in the log never changes. */
export interface LogEntryTable {
  statement_digest: string
  /** From 0; null while it waits. */
  entry_index: number | null
  /** The order in which those that wait arrived. */
  position: number | null
  /** Null for an entry that was restored from the published log, until its statement is. */
  receipt_id: string | null
  sequence: number | null
}

/** What the log has signed, before it is published. */
export interface LogCheckpointTable {
  size: number
  /** Hex. */
  root: string
  /** The signed text. */
  note: string
  signed_at: number
}

/** What gave or ended somebody's access. The journal has the same, for a database that was set back. */
export interface RevocationTable {
  revocation_id: string
  /** Unix seconds. */
  revoked_at: number
  /** JSON. */
  revoked: string
}

/** A process of a replica, with PostgreSQL, and the journal that it writes. */
export interface LogbookTable {
  process_id: string
  /** Processes of one machine share it. */
  logbook_id: string
  host: string
  /** The history of the database that has all of the journal's entries; null where some are missing. */
  complete_on: string | null
  /** Unix seconds, by the clock of the database. */
  seen_at: number
}

/** A document that was committed, and that may not be in the journal yet. See `continuity/documents.ts`. */
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

/** Up to where the database has what is in a file of the journal, in bytes. */
interface JournalFileTable {
  file: string
  read_to: number
}

/** Every key that ever signed receipts and statements. Retired keys stay, so that old signatures can be checked. */
export interface SigningKeyTable {
  public_key_hex: string
  valid_from: string
  valid_to: string | null
  /** What it signed from here on may be of a thief. */
  revoked_since: Generated<string | null>
}

/** Keys that will sign, apart from those that do or did: earlier releases take every row there for one of these. */
export interface AnnouncedKeyTable {
  public_key_hex: string
  purpose: string
  valid_from: string
  announced_at: string
}

/** Signed documents about keys, which clients check. */
interface KeyChangeTable {
  kind: 'endorsement' | 'revocation'
  purpose: string
  /** The key that is endorsed or revoked. */
  public_key_hex: string
  signed_by: string
  document: string
  issued_at: string
}

/** A quote, which fixes what a payment must be. One that was paid is never deleted. */
export interface PayRequestTable {
  pay_req_id: string
  created_at: number
  expires_at: number
  provider: string
  units: number
  /** The body of the 402 answer; empty where it is made from a template. */
  quote: string
  template_id: string | null
}

/** A quote whose payment by a Solana Pay code the gateway looks for. Times are Unix seconds. */
export interface WatchedQuoteTable {
  pay_req_id: string
  watched_at: number
  watched_until: number
  /** When it is looked for next. The process that moves this time on does the looking. */
  due_at: number
  looked_at: number | null
  /** The newest transaction of those that were read and do not pay: none up to it is read again. */
  passed_tx: string | null
  /** The transaction that paid, and the ticker of the leg, once found. */
  tx: string | null
  asset: string | null
}

/** What quotes for the same order at the same rates have in common. Deleted when no quote has it any more. */
export interface QuoteTemplateTable {
  /** From the SHA-256 of the template. */
  template_id: string
  template: string
  /** Last time, in Unix seconds: a gateway that makes quotes from it stores it again every hour. */
  stored_at: number
}

interface IdempotencyKeyTable {
  idempotency_key: string
  /** SHA-256 of the canonical body the key came with. */
  body_sha256: string
  pay_req_id: string
  created_at: number
}

/** A transaction that paid something. A single purchase uses all of it; a batch divides it among several receipts. */
export interface PaymentTransactionTable {
  network: string
  tx: string
  /**
   * `refund`: no receipt claims it so far, and the operator pays some of it back. `lost`: release 1.1.0 has lost its
   * receipts, and no quote can claim it.
   */
  kind: 'single' | 'batch' | 'authorizations' | 'refund' | 'lost'
  /** Of several authorizations, the payer of the first that was claimed. */
  payer: string
  /** Ticker. A row counts one asset; other assets in the same transaction are ignored. */
  asset: string
  /** Atomic units that arrived, and those that receipts account for; decimal text. */
  received: string
  bound: string
}

/** Which quote a signed authorization pays. A row is never released: the authorization may be used at any time. */
export interface PaymentAuthorizationTable {
  network: string
  authorization_id: string
  pay_req_id: string
}

/**
 * A payment of a known quote that no receipt accounts for, or only in part, when it was noted. What has become of it
 * since, `receipts` and `refunds` say.
 */
export interface UnclaimedPaymentTable {
  network: string
  tx: string
  /** Ticker. */
  asset: string
  /** The quote that it was made for; one that nobody has paid may be deleted by now. */
  pay_req_id: string
  reason: 'quote_already_paid' | 'after_quote' | 'amount_too_small' | 'overpaid'
  payer: string
  /** Atomic units that arrived, in this asset; decimal text. */
  received: string
  noted_at: string
}

export interface ReceiptTable {
  receipt_id: string
  pay_req_id: string
  network: string
  tx: string
  payer: string
  /** The signed receipt, as it is answered. */
  receipt: string
  /** From the receipt; empty where a release up to 1.0.0 wrote the row beside newer ones. */
  confirmed_at: Generated<string>
}

/** Counts the lockers of an owner, so that checking the cap is one conditional update. */
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
  /** JSON object: key of an operator → access epoch in which it was added. Those added in epoch 0 are left out. */
  operator_epochs: Generated<string>
  /** Increases when an operator is removed, and when the owner revokes all URLs and upload sessions. */
  access_epoch: Generated<number>
  /** URLs and upload sessions of earlier epochs are revoked. */
  revoked_before: Generated<number>
  /** Opens the public link in place of the receipt id; null until the owner rotates the link. */
  link_handle: Generated<string | null>
  /** 1 while the owner has closed the public link. */
  link_closed: Generated<number>
  /** Whether statements are published one by one, or by the checkpoints of the log. */
  anchoring: Generated<'each' | 'log'>
  /** Set by the operator of the gateway, with the time and what the owner is told. */
  restriction: Generated<'frozen' | 'taken_down' | null>
  restricted_at: Generated<string | null>
  restriction_notice: Generated<string | null>
  /** Increases with every change of the set of (filename, size, hash). */
  manifest_version: number
  manifest_changed_at: string | null
  /** Entries of the manifest, and the bytes of the confirmed ones. */
  file_count: number
  total_bytes: number
  /** The bytes of files that have an object whose hash is not recorded; of releases up to 1.0.0 they are not known. */
  unconfirmed_bytes: Generated<number>
  /** Bytes that were paid for at a provider that removes nothing. */
  delivered_bytes: number
}

/** A long-lived key for S3 clients. Its secret is not stored: it follows from the row and a key of the gateway. */
export interface S3KeyTable {
  access_key_id: string
  /** Empty for all lockers that the wallet of `minted_by` owns. */
  locker_id: string
  name: string
  access: 'read' | 'write'
  /** Empty for the whole locker. */
  prefix: string
  /** Who made it, and in which access epoch of the locker. */
  minted_by: string
  minted_epoch: number
  /** Of a key for all lockers, JSON: the epoch of each locker whose access had been revoked before. */
  minted_epochs?: string | null | undefined
  created_at: number
  expires_at: number
  /** Written at most once an hour. */
  last_used_at: number | null
}

/** Finds the lockers that a key operates. Who may act is decided by `operators` of the locker alone. */
interface LockerOperatorTable {
  operator: string
  receipt_id: string
  /** From the receipt. */
  confirmed_at: string
}

/**
 * A name in a locker. It points at the object that holds its bytes. The hash is set once it is computed from those bytes,
 * and cleared by a new object. The `upload_` columns apply from the next upload on.
 */
interface FileTable {
  locker_id: string
  filename: string
  content_type: string
  expected_hash: string | null
  object_id: string | null
  provider_ref: string | null
  /** The size of the object; null for objects of releases up to 1.0.0. Of a confirmed file, `size_bytes` counts. */
  object_bytes: Generated<number | null>
  size_bytes: number | null
  content_hash: string | null
  uploaded_at: string | null
  hash_recorded_at: string | null
  upload_content_type: string
  upload_expected_hash: string | null
  /** The newest object that a client uploads to the provider directly; null when no direct upload is awaited. */
  upload_object_id: string | null
  /** Headers that a client of S3 sent to have them back, as canonical JSON; null when there are none. */
  metadata: Generated<string | null>
}

/** A key of the S3 endpoint that ends with a slash and has no bytes. It is no file: manifest and statements know nothing of it. */
export interface S3FolderTable {
  locker_id: string
  /** With the slash at its end. */
  folder: string
  content_type: string
  /** Canonical JSON of what a client said about it; null when it said nothing. */
  metadata: string | null
  created_at: number
}

/** Every object that is or may be at a provider. The row is written before the first byte and deleted after the last. */
export interface ObjectTable {
  object_id: string
  provider: string
  provider_ref: string | null
  /** `held`: used by a file or an upload session. After a while, a sweep removes objects in the other states. */
  state: 'writing' | 'held' | 'released'
  since: number
  /** The locker that holds it, or did; null before, and in rows of earlier releases. */
  locker_id: string | null
  /** Null before a locker holds it, and while its bytes come in parts. */
  size_bytes: number | null
}

/**
 * An object that a client uploads to the provider directly. The file adopts it once its bytes are found there. The row
 * goes when the object is adopted or given up, and when the file gets bytes that were sent later, or is deleted.
 */
export interface DirectUploadTable {
  object_id: string
  locker_id: string
  filename: string
  /** What the address was signed for. */
  content_type: string
  expected_hash: string | null
  /** Who asked for the URL, and in which access epoch; null for URLs of releases up to 1.0.0. */
  minted_by: string | null
  minted_epoch: number | null
  /** Grows with each direct upload that is begun while the file awaits others. */
  position: number
  /** As the client announced it; null where it did not, and for uploads that earlier releases began. */
  promised_bytes: number | null
  /** When the sweep looks for it next, in Unix seconds; null for uploads that earlier releases began. */
  look_at: number | null
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
  /** 1: the terms of the locker do not cover it, so it stays where it is staged. */
  is_held_back: number
}

export interface UploadSessionTable {
  session_id: string
  locker_id: string
  /** SHA-256 of the token, hex. The token itself is not stored. */
  token_hash: string
  /** Who opened it, and in which access epoch of the locker; null for sessions of releases up to 1.0.0. */
  minted_by: string | null
  minted_epoch: number | null
  /** The long-lived S3 key that opened it, with which it ends; null for all others. */
  s3_key: string | null
  /** The door through which parts come; null for upload sessions, which a token opens. */
  door: 's3' | 'tus' | null
  status: 'partial' | 'complete' | 'failed'
  /** Null for sessions of releases up to 1.0.0. */
  opened_at: number | null
  expires_at: number
  /** When the session ended, also where it stays partial. */
  closed_at: number | null
  /** The worker that assembles the files, and until when it has the session to itself. */
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
  /** Of the file, as its door keeps it. */
  metadata: string | null
  /** What the client checks its parts and the file with, where it said so. */
  checksum_algorithm: string | null
  checksum_type: string | null
  /** Of the chosen parts together. */
  checksum: string | null
  state: 'open' | 'stored' | 'failed'
  /** Updated with each part, so that no query has to sum them up. */
  received_bytes: number
  /** Of parts that were refused or replaced, and stay in the file's object until that is removed. */
  stray_bytes: number
  part_count: number
  /** The highest part index received so far; -1 before the first. */
  top_index: number
  /** Increases with every part, so that the worker notices a part that arrives while it assembles. */
  revision: number
  /** The revision in which the client chose the parts of the file, so that their indexes may have gaps. */
  chosen_revision: number | null
  /** A digest of what the client chose. */
  chosen_parts: string | null
  /** The only object that the file may take the place of, and empty for none; null where it may be any. */
  replaces: string | null
  /** Of a stored file, and of one that failed because of its hash. */
  content_hash: string | null
  /** The error code of a failed file. */
  error: string | null
  /** The object into which large parts are written directly; null until there is one, and at the end. */
  object_id: string | null
  /** What the provider needs to go on with it; null until it has begun. */
  upload_ref: string | null
  /** `open`: takes parts. `sealed`: is being completed. `complete`: can be read. */
  upload_state: 'open' | 'sealed' | 'complete' | null
}

/** What a tus upload has beside its session and the one file of that. */
export interface TusUploadTable {
  session_id: string
  /** `partial`: only to be joined. `final`: joined from others. */
  kind: 'whole' | 'partial' | 'final'
  /** As the client sent it. */
  upload_metadata: string | null
  /** Of a final upload: the partial ones, as the client named them. */
  upload_concat: string | null
  /** How long the parts are that its bytes are kept in. */
  block_bytes: number
}

export interface UploadPartTable {
  session_id: string
  file_id: string
  part_index: number
  /** An object of its own, or that of the file. */
  object_id: string
  size_bytes: number
  /** Hex; or a checksum, as `parts/part-digest.ts` writes it. */
  sha256: string
  /** Base64, of the file's algorithm. */
  checksum: string | null
  /** Null for parts of releases up to 1.0.0. */
  received_at: number | null
  /** The provider's name for a part in the file's object; null for an object of its own. */
  part_ref: string | null
  /** Where it begins in the file's object, once that is complete. */
  part_start: number | null
}

/** A payment that the gateway sends for its payer, noted before it is sent. Showing it again gives the same outcome. */
export interface X402SettlementTable {
  /** A quote has one settlement at a time, so two signatures for it are not two payments. */
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
  /** Set once the payment is known to be made in an unknown transaction: the block from which on that is searched. */
  searched_to: number | null
}

/** The state of a receipt's attestation. No row: it was never requested. */
export interface AttestationTable {
  receipt_id: string
  locker_id: string
  /** Constant over all statements; null before the first, and for records of the oracle era. */
  proof_id: string | null
  /** Null for records that are older than the field and name a transaction: they count as final (STATE-14). */
  status: 'pending' | 'computed' | 'pushing' | 'complete' | null
  /** Of the newest statement; 0 for a record of the oracle era, null for a pending stub. */
  sequence: number | null
  /** The version that the newest statement is about. A higher version of the locker makes the statement stale. */
  manifest_version: number | null
  /** When the newest statement was issued. */
  attested_at: number | null
  /** Since when it has this status; null where that is not known. */
  status_since: number | null
  /** JSON of the last failed attempt to publish the newest statement. */
  anchor_error: string | null
  /** JSON of why publishing the newest statement waits, and until when. */
  deferral: string | null
  /**
   * When publishing the newest statement is due again, in Unix seconds, whatever became of the job that publishes it.
   * Null where it is published or sent, need not be published, or only the operator can help.
   */
  push_at: number | null
  /** When the locker has all statements of a day again, in Unix milliseconds; null before the first that counts. */
  whole_budget_at: number | null
  /** The last statement that this database has lost for good: a later one follows on it. Null where none is lost. */
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
  /** JSON of the record as answered, without files, status, anchor and error. */
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
  /** JSON of the anchor, with the fields that are known before the transaction lands. */
  draft: string
  /** The transaction as it is sent. */
  raw: string
  /** No block above this height can hold it. */
  last_valid_height: number
  /** Unique indexes: one `sent` per receipt, and one per statement that is `sent`, `landed` or `finalized`. */
  state: 'sent' | 'landed' | 'finalized' | 'failed' | 'expired'
  /** The fee, and the rent deposited in accounts less the rent refunded; known once the transaction has landed. */
  fee_lamports: number | null
  rent_lamports: number | null
  sent_at: number
}

/** What witnesses have added to a checkpoint of the log. */
export interface LogCosignaturesTable {
  /** Of the checkpoint. */
  size: number
  /** Signature lines, as they stand in the note. */
  lines: string
  /** 1 if they are enough for the policy of the gateway. */
  is_quorum: number
}

/** What a witness of the policy said last. */
export interface LogWitnessTable {
  /** Its encoded key. */
  witness: string
  /** What it has cosigned last; 0 before the first time. */
  size: number
  cosigned_at: number | null
  /** Null while it answers. */
  failing_since: number | null
  problem: string | null
}

/** A transaction that publishes a checkpoint of the log. */
export interface LogAnchorTable {
  /** Its signature. */
  tx: string
  /** Of the checkpoint. */
  size: number
  /** JSON of what the memo says. */
  payload: string
  signer: string
  /** The transaction as it is sent. */
  raw: string
  /** No block above this height can hold it. */
  last_valid_height: number
  /** Unique indexes: one is `sent`, and one for each size is `sent`, `landed` or `finalized`. */
  state: PublicationTable['state']
  /** Known once the transaction has landed. */
  slot: number | null
  block_time: number | null
  fee_lamports: number | null
  sent_at: number
}

/** The entry that the EVM registry should hold for a receipt: its newest published statement. */
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
  /** Set once the transaction is final; null also where the registry already had the entry. */
  block: number | null
  /** Decimal text. */
  fee_wei: string | null
  /** The error of the last attempt, where it failed. */
  error: string | null
  since: number
  /** Before this time the budget allows no attempt. */
  deferred_until: number | null
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
  /** See `db/chunk-list.ts`. */
  chunk_list: Uint8Array
  /** The Merkle node of every block of leaves, 32 bytes each. */
  block_nodes: Uint8Array
}

/** A run of consecutive files, which many snapshots may share. */
export interface SnapshotChunkTable {
  /** SHA-256 of the content, hex. */
  chunk_id: string
  /** See `attestations/snapshots/chunk-content.ts`. */
  content: string
}

/** One random key per database. Without it, nobody can choose files so that all chunks become tiny or huge. */
interface SnapshotBorderKeyTable {
  border_key: string
}

/** Receipts whose scheduled re-attestation failed. They wait, so that others are not held up. */
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
  /** Of the memo, noted before it is sent. */
  tx: string | null
  raw: string | null
  last_valid_height: number | null
  /** Set once it has landed. */
  slot: number | null
}

/** A transaction that the gateway pays for, on the account of the caller who caused it. Kept for as long as limits look back. */
export interface SpendingTable {
  tx: string
  /** Part of a hash. */
  who: string
  budget: string
  /** The most that it can cost, in lamports or gwei. */
  amount: number
  noted_at: number
}

/** What a budget has spent on a day, at most. */
export interface BudgetDayTable {
  budget: string
  /** Days since 1970, in UTC. */
  day: number
  amount: number
  transactions: number
  /** The daily limit that a transaction was refused for, which is reported once. */
  exhausted_limit: number | null
}

/** What was paid for at a provider that removes nothing. The same bytes of a locker are paid for once. */
export interface DeliveredContentTable {
  locker_id: string
  /** Hex. */
  sha256: string
  content_type: string
  /** The object that it was paid for with. */
  object_id: string
  /** Null until the provider has it for good. */
  provider_ref: string | null
}

/** A purchase that lengthened and enlarged a locker, in the transaction that wrote the row. */
export interface RenewalTable {
  /** Its own. */
  receipt_id: string
  locker_id: string
  /** JSON of the terms that it bought. */
  terms: string
  renewed_at: number
}

/** Bytes that were sent of a locker's files. Each process adds what it has counted in memory, every few seconds. */
interface LockerEgressTable {
  locker_id: string
  bytes: number
}

/** What was done by hand. Rows are only ever added: triggers refuse anything else, and each holds the hash of the last. */
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
  /** Hex; of the first row 64 zeros. */
  previous_hash: string
  hash: string
}

/** A payment that the operator has decided to pay back. */
/** Of a payment there may be several, in one asset or in several. Its row of `payment_transactions` is locked to write one. */
export interface RefundTable {
  network: string
  tx: string
  /** From 0 in each transaction. */
  position: number
  asset: string
  /** Atomic units that are paid back, and all that arrived in this asset; decimal text. */
  amount: string
  received: string
  /** Null until it is sent. */
  refund_tx: string | null
  decided_by: string
  decided_at: string
  reason: string
}

/** One row an hour for ninety days, then one a day. */
export interface GrowthSampleTable {
  sampled_at: number
  lockers: number
  files: number
  bytes: number
  purchases: number
}

/**
 * Sales of an hour and of a day, so that a chart need not read every receipt. A trigger notes each new receipt in
 * `uncounted_receipts`; counting it takes it out there and adds it here in one transaction.
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
