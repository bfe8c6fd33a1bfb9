// The schema of release 1.1.0, by module. It is released, so it is never edited.

import { randomBytes } from 'node:crypto'
import type { ColumnTypes, DialectName } from '@svc/database/dialects'
import type { Change } from '@svc/database/migrate'
import { isSqlite } from '@svc/database/prepared'
import { createQueueTables } from '@svc/database/queue/tables'
import { createGuardTables } from '@svc/service/guard/tables'
import { type RawBuilder, sql } from 'kysely'

type Statements = (column: ColumnTypes, dialect: DialectName) => RawBuilder<unknown>[]

export const createBaseline: Change = async (db, column) => {
  await createGuardTables(db, column)
  await createQueueTables(db, column)
  const dialect = isSqlite(db) ? 'sqlite' : 'postgres'
  const modules = [
    keys,
    purchases,
    lockers,
    files,
    transfers,
    attestations,
    anchors,
    log,
    budgets,
    operations,
    continuity,
  ]
  for (const statement of modules.flatMap((statementsOf) => statementsOf(column, dialect))) await statement.execute(db)
}

const keys: Statements = ({ text }) => [
  sql`create table signing_keys (
    public_key_hex ${text} primary key,
    valid_from ${text} not null,
    valid_to ${text},
    revoked_since ${text}
  )`,
  sql`create table announced_keys (
    public_key_hex ${text} primary key,
    purpose ${text} not null,
    valid_from ${text} not null,
    announced_at ${text} not null
  )`,
  sql`create table key_changes (
    kind ${text} not null,
    purpose ${text} not null,
    public_key_hex ${text} not null,
    signed_by ${text} not null,
    document ${text} not null,
    issued_at ${text} not null,
    constraint key_changes_pk primary key (kind, public_key_hex, signed_by)
  )`,
]

const purchases: Statements = ({ text, integer }, dialect) => [
  sql`create table quote_templates (
    template_id ${text} primary key,
    template ${text} not null,
    stored_at ${integer} not null
  )`,
  sql`create table pay_requests (
    pay_req_id ${text} primary key,
    created_at ${integer} not null,
    expires_at ${integer} not null,
    provider ${text} not null,
    units ${integer} not null,
    quote ${text} not null,
    template_id ${text} references quote_templates (template_id)
  )`,
  sql`create index pay_requests_expires_at on pay_requests (expires_at)`,
  sql`create index pay_requests_template_id on pay_requests (template_id)`,
  sql`create table watched_quotes (
    pay_req_id ${text} primary key,
    watched_at ${integer} not null,
    watched_until ${integer} not null,
    due_at ${integer} not null,
    looked_at ${integer},
    passed_tx ${text},
    tx ${text},
    asset ${text}
  )`,
  sql`create index watched_quotes_due on watched_quotes (due_at)`,
  sql`create table idempotency_keys (
    idempotency_key ${text} primary key,
    body_sha256 ${text} not null,
    pay_req_id ${text} not null,
    created_at ${integer} not null
  )`,
  sql`create index idempotency_keys_created_at on idempotency_keys (created_at)`,
  sql`create table payment_transactions (
    network ${text} not null,
    tx ${text} not null,
    kind ${text} not null,
    payer ${text} not null,
    received ${text} not null,
    bound ${text} not null,
    asset ${text} not null default '',
    constraint payment_transactions_pk primary key (network, tx)
  )`,
  sql`create table payment_authorizations (
    network ${text} not null,
    authorization_id ${text} not null,
    pay_req_id ${text} not null,
    constraint payment_authorizations_pk primary key (network, authorization_id)
  )`,
  sql`create index payment_authorizations_pay_req_id on payment_authorizations (pay_req_id)`,
  sql`create table x402_settlements (
    pay_req_id ${text} primary key,
    network ${text} not null,
    asset ${text} not null,
    payment_id ${text} not null,
    tx ${text} not null,
    raw ${text} not null,
    height ${integer} not null,
    searched_to ${integer},
    constraint x402_settlements_payment unique (network, payment_id)
  )`,
  sql`create table receipts (
    receipt_id ${text} primary key,
    pay_req_id ${text} not null unique,
    network ${text} not null,
    tx ${text} not null,
    payer ${text} not null,
    receipt ${text} not null,
    confirmed_at ${text} not null default ''
  )`,
  sql`create index receipts_confirmed_at on receipts (confirmed_at, receipt_id)`,
  sql`create index receipts_payer on receipts (payer, confirmed_at, receipt_id)`,
  dialect === 'sqlite'
    ? sql`create index receipts_proof on receipts ((receipt ->> 'proof_id'))`
    : sql`create index receipts_proof on receipts ((cast(receipt as json) ->> 'proof_id'))`,
  sql`create index receipts_tx on receipts (tx)`,
]

const lockers: Statements = ({ text, integer }) => [
  sql`create table owners (
    owner ${text} primary key,
    locker_count ${integer} not null
  )`,
  sql`create table lockers (
    locker_id ${text} primary key,
    receipt_id ${text} not null unique,
    owner ${text} not null,
    network ${text} not null,
    provider ${text} not null,
    tags ${text} not null,
    terms ${text} not null,
    created_at ${text} not null,
    expires_at ${text} not null,
    operators ${text} not null default '[]',
    manifest_version ${integer} not null default 0,
    manifest_changed_at ${text},
    file_count ${integer} not null default 0,
    total_bytes ${integer} not null default 0,
    delivered_bytes ${integer} not null default 0,
    operator_epochs ${text} not null default '{}',
    access_epoch ${integer} not null default 0,
    revoked_before ${integer} not null default 0,
    link_handle ${text},
    link_closed ${integer} not null default 0,
    unconfirmed_bytes ${integer} not null default 0,
    restriction ${text},
    restricted_at ${text},
    restriction_notice ${text},
    anchoring ${text} not null default 'each'
  )`,
  sql`create unique index lockers_link_handle on lockers (link_handle)`,
  sql`create index lockers_owner on lockers (owner)`,
  sql`create index lockers_restriction on lockers (restriction) where restriction is not null`,
  sql`create table locker_operators (
    operator ${text} not null,
    receipt_id ${text} not null,
    confirmed_at ${text} not null,
    constraint locker_operators_pk primary key (operator, receipt_id)
  )`,
  sql`create index locker_operators_newest on locker_operators (operator, confirmed_at, receipt_id)`,
  sql`create table renewals (
    receipt_id ${text} primary key,
    locker_id ${text} not null,
    terms ${text} not null,
    renewed_at ${integer} not null
  )`,
  sql`create index renewals_locker on renewals (locker_id, renewed_at)`,
  sql`create table locker_egress (
    locker_id ${text} primary key,
    bytes ${integer} not null
  )`,
  sql`create table s3_keys (
    access_key_id ${text} primary key,
    locker_id ${text} not null,
    name ${text} not null,
    access ${text} not null,
    prefix ${text} not null,
    minted_by ${text} not null,
    minted_epoch ${integer} not null,
    created_at ${integer} not null,
    expires_at ${integer} not null,
    last_used_at ${integer}
  )`,
  sql`create index s3_keys_expires_at on s3_keys (expires_at)`,
  sql`create index s3_keys_locker on s3_keys (locker_id)`,
]

const files: Statements = ({ text, integer }) => [
  sql`create table files (
    locker_id ${text} not null,
    filename ${text} not null,
    content_type ${text} not null,
    expected_hash ${text},
    object_id ${text},
    provider_ref ${text},
    size_bytes ${integer},
    content_hash ${text},
    uploaded_at ${text},
    hash_recorded_at ${text},
    upload_content_type ${text} not null,
    upload_expected_hash ${text},
    upload_object_id ${text},
    object_bytes ${integer},
    metadata ${text},
    constraint files_pk primary key (locker_id, filename)
  )`,
  sql`create index files_confirmed on files (locker_id) where content_hash is not null`,
  sql`create index files_object_id on files (object_id)`,
  sql`create table objects (
    object_id ${text} primary key,
    provider ${text} not null,
    provider_ref ${text},
    state ${text} not null,
    since ${integer} not null,
    locker_id ${text},
    size_bytes ${integer}
  )`,
  sql`create index objects_released on objects (locker_id) where state = 'released'`,
  sql`create index objects_state on objects (state, since)`,
  sql`create table direct_uploads (
    object_id ${text} primary key,
    locker_id ${text} not null,
    filename ${text} not null,
    content_type ${text} not null,
    expected_hash ${text},
    minted_by ${text},
    minted_epoch ${integer},
    position ${integer} not null
  )`,
  sql`create unique index direct_uploads_file on direct_uploads (locker_id, filename, position)`,
  sql`create table s3_folders (
    locker_id ${text} not null,
    folder ${text} not null,
    content_type ${text} not null,
    metadata ${text},
    created_at ${integer} not null,
    constraint s3_folders_pk primary key (locker_id, folder)
  )`,
  sql`create table settling_objects (
    object_id ${text} primary key,
    locker_id ${text} not null,
    provider ${text} not null,
    content_type ${text} not null,
    size_bytes ${integer} not null,
    sha256 ${text} not null,
    notes ${text},
    since ${integer} not null,
    seen_at ${integer} not null,
    is_held_back ${integer} not null default 0
  )`,
  sql`create index settling_objects_locker on settling_objects (locker_id)`,
  sql`create index settling_objects_seen on settling_objects (seen_at)`,
  sql`create table delivered_contents (
    locker_id ${text} not null,
    sha256 ${text} not null,
    content_type ${text} not null,
    object_id ${text} not null,
    provider_ref ${text},
    constraint delivered_contents_pk primary key (locker_id, sha256, content_type)
  )`,
  sql`create index delivered_contents_object on delivered_contents (object_id)`,
]

const transfers: Statements = ({ text, integer }) => [
  sql`create table upload_sessions (
    session_id ${text} primary key,
    locker_id ${text} not null,
    token_hash ${text} not null,
    status ${text} not null,
    expires_at ${integer} not null,
    closed_at ${integer},
    lease_id ${text},
    lease_until ${integer},
    minted_by ${text},
    minted_epoch ${integer},
    door ${text},
    opened_at ${integer},
    s3_key ${text}
  )`,
  sql`create index upload_sessions_closed_at on upload_sessions (closed_at, expires_at)`,
  sql`create index upload_sessions_open on upload_sessions (locker_id) where closed_at is null`,
  sql`create table upload_session_files (
    session_id ${text} not null,
    file_id ${text} not null,
    filename ${text} not null,
    content_type ${text} not null,
    size_bytes ${integer},
    expected_hash ${text},
    state ${text} not null,
    received_bytes ${integer} not null,
    part_count ${integer} not null,
    top_index ${integer} not null,
    revision ${integer} not null,
    content_hash ${text},
    error ${text},
    object_id ${text},
    upload_ref ${text},
    upload_state ${text},
    metadata ${text},
    checksum_algorithm ${text},
    checksum_type ${text},
    checksum ${text},
    chosen_parts ${text},
    replaces ${text},
    chosen_revision ${integer},
    stray_bytes ${integer} not null default 0,
    constraint upload_session_files_pk primary key (session_id, file_id)
  )`,
  sql`create table upload_parts (
    session_id ${text} not null,
    file_id ${text} not null,
    part_index ${integer} not null,
    object_id ${text} not null,
    size_bytes ${integer} not null,
    sha256 ${text} not null,
    part_ref ${text},
    part_start ${integer},
    checksum ${text},
    received_at ${integer},
    constraint upload_parts_pk primary key (session_id, file_id, part_index)
  )`,
  sql`create index upload_parts_object_id on upload_parts (object_id)`,
  sql`create table tus_uploads (
    session_id ${text} primary key,
    kind ${text} not null,
    upload_metadata ${text},
    upload_concat ${text},
    block_bytes ${integer} not null
  )`,
]

const attestations: Statements = ({ text, integer, bytes }) => [
  sql`create table attestations (
    receipt_id ${text} primary key,
    locker_id ${text} not null,
    proof_id ${text},
    status ${text},
    sequence ${integer},
    manifest_version ${integer},
    attested_at ${integer},
    status_since ${integer},
    anchor_error ${text},
    deferral ${text},
    whole_budget_at ${integer}
  )`,
  sql`create index attestations_attested_at on attestations (attested_at)`,
  sql`create index attestations_deferral on attestations (receipt_id) where deferral is not null`,
  sql`create index attestations_proof on attestations (proof_id)`,
  sql`create index attestations_status on attestations (status, attested_at, receipt_id)`,
  sql`create table statements (
    receipt_id ${text} not null,
    sequence ${integer} not null,
    locker_id ${text} not null,
    snapshot_key ${text} not null,
    statement_digest ${text} unique,
    record ${text} not null,
    anchor ${text},
    issued_at ${integer} not null,
    constraint statements_pk primary key (receipt_id, sequence)
  )`,
  sql`create table snapshots (
    snapshot_key ${text} primary key,
    file_count ${integer} not null,
    total_bytes ${text} not null,
    merkle_root ${text} not null,
    manifest_digest ${text} not null,
    chunk_list ${bytes} not null,
    block_nodes ${bytes} not null
  )`,
  sql`create table snapshot_chunks (
    chunk_id ${text} primary key,
    content ${text} not null
  )`,
  sql`create table snapshot_border_key (border_key ${text} not null)`,
  sql`insert into snapshot_border_key (border_key) values (${randomBytes(32).toString('hex')})`,
  sql`create table cron_failures (
    receipt_id ${text} primary key,
    failed_at ${integer} not null,
    retry_at ${integer} not null default 0
  )`,
]

const anchors: Statements = ({ text, integer }) => [
  sql`create table payment_codes (
    receipt_id ${text} primary key,
    att_code ${integer} not null,
    recorded_at ${integer} not null,
    tx ${text},
    raw ${text},
    last_valid_height ${integer},
    slot ${integer}
  )`,
  sql`create table publications (
    tx ${text} primary key,
    receipt_id ${text} not null,
    sequence ${integer} not null,
    draft ${text} not null,
    raw ${text} not null,
    last_valid_height ${integer} not null,
    state ${text} not null,
    fee_lamports ${integer},
    rent_lamports ${integer},
    sent_at ${integer} not null
  )`,
  sql`create unique index publications_good on publications (receipt_id, sequence) where state in ('sent', 'landed', 'finalized')`,
  sql`create unique index publications_sent on publications (receipt_id) where state = 'sent'`,
  sql`create index publications_state on publications (state, sent_at)`,
  sql`create table registry_entries (
    receipt_id ${text} primary key,
    sequence ${integer} not null,
    merkle_root ${text} not null,
    slot ${integer} not null,
    file_count ${integer} not null,
    attested_at ${integer} not null,
    state ${text} not null,
    tx ${text},
    raw ${text},
    block ${integer},
    fee_wei ${text},
    error ${text},
    since ${integer} not null,
    deferred_until ${integer}
  )`,
  sql`create index registry_entries_open on registry_entries (since) where state != 'done'`,
]

const log: Statements = ({ text, integer }, dialect) => [
  sql`create table logs (
    origin ${text} primary key,
    public_key_hex ${text} not null
  )`,
  sql`create table log_entries (
    statement_digest ${text} primary key,
    entry_index ${integer},
    position ${integer},
    receipt_id ${text},
    sequence ${integer}
  )`,
  // Separate, because SQLite would search an index of all entries for the waiting ones, which is not in their order.
  sql`create unique index log_entries_placed on log_entries (entry_index) where entry_index is not null`,
  sql`create index log_entries_waiting on log_entries (position) where entry_index is null`,
  sql`create table log_checkpoints (
    size ${integer} primary key,
    root ${text} not null,
    note ${text} not null,
    signed_at ${integer} not null
  )`,
  sql`create table log_cosignatures (
    size ${integer} primary key,
    lines ${text} not null,
    is_quorum ${integer} not null
  )`,
  sql`create index log_cosignatures_quorum on log_cosignatures (size) where is_quorum = 1`,
  sql`create table log_witnesses (
    witness ${text} primary key,
    size ${integer} not null,
    cosigned_at ${integer},
    failing_since ${integer},
    problem ${text}
  )`,
  sql`create table log_anchors (
    tx ${text} primary key,
    size ${integer} not null,
    payload ${text} not null,
    signer ${text} not null,
    raw ${text} not null,
    last_valid_height ${integer} not null,
    state ${text} not null,
    slot ${integer},
    block_time ${integer},
    fee_lamports ${integer},
    sent_at ${integer} not null
  )`,
  sql`create unique index log_anchors_sent on log_anchors (state) where state = 'sent'`,
  sql`create unique index log_anchors_size on log_anchors (size) where state in ('sent', 'landed', 'finalized')`,
  ...LOG_TRIGGERS[dialect],
]

/** Every statement is queued for the log by its own transaction, whichever release writes it. */
const LOG_TRIGGERS = {
  sqlite: [
    sql`create trigger statements_logged after insert on statements when new.statement_digest is not null begin
       insert into log_entries (statement_digest, position, receipt_id, sequence)
       values (new.statement_digest,
         (select coalesce(max(position), 0) + 1 from log_entries where entry_index is null),
         new.receipt_id, new.sequence)
       on conflict (statement_digest) do update set receipt_id = excluded.receipt_id, sequence = excluded.sequence;
     end`,
  ],
  postgres: [
    // Above the positions of a database that was moved here.
    sql`create sequence log_positions start with 1000000000000`,
    sql`create function svc_log_statement() returns trigger language plpgsql as $$ begin
       insert into log_entries (statement_digest, position, receipt_id, sequence)
       values (new.statement_digest, nextval('log_positions'), new.receipt_id, new.sequence)
       on conflict (statement_digest) do update set receipt_id = excluded.receipt_id, sequence = excluded.sequence;
       return null;
     end $$`,
    sql`create trigger statements_logged after insert on statements
       for each row when (new.statement_digest is not null) execute function svc_log_statement()`,
  ],
}

const budgets: Statements = ({ text, integer }) => [
  sql`create table spending (
    tx ${text} not null,
    who ${text} not null,
    budget ${text} not null,
    amount ${integer} not null,
    noted_at ${integer} not null,
    constraint spending_pk primary key (tx, who)
  )`,
  sql`create index spending_noted_at on spending (noted_at)`,
  sql`create index spending_who on spending (who, noted_at)`,
  sql`create table budget_days (
    budget ${text} not null,
    day ${integer} not null,
    amount ${integer} not null,
    transactions ${integer} not null,
    exhausted_limit ${integer},
    constraint budget_days_pk primary key (budget, day)
  )`,
]

const operations: Statements = ({ text, integer }, dialect) => [
  sql`create table audit_log (
    sequence ${integer} primary key,
    at ${text} not null,
    actor ${text} not null,
    action ${text} not null,
    target ${text} not null,
    outcome ${text} not null,
    reason ${text} not null,
    details ${text} not null,
    previous_hash ${text} not null,
    hash ${text} not null
  )`,
  sql`create index audit_log_target on audit_log (target, sequence)`,
  // No longer used: replaced by `refunds`.
  sql`create table payment_refunds (
    network ${text} not null,
    tx ${text} not null,
    asset ${text} not null,
    amount ${text} not null,
    refund_tx ${text},
    decided_by ${text} not null,
    decided_at ${text} not null,
    reason ${text} not null,
    constraint payment_refunds_pk primary key (network, tx)
  )`,
  sql`create table refunds (
    network ${text} not null,
    tx ${text} not null,
    position ${integer} not null,
    asset ${text} not null,
    amount ${text} not null,
    received ${text} not null,
    refund_tx ${text},
    decided_by ${text} not null,
    decided_at ${text} not null,
    reason ${text} not null,
    constraint refunds_pk primary key (network, tx, position)
  )`,
  sql`create table growth_samples (
    sampled_at ${integer} primary key,
    lockers ${integer} not null,
    files ${integer} not null,
    bytes ${integer} not null,
    purchases ${integer} not null
  )`,
  sql`create table sales_periods (
    period ${text} not null,
    start ${integer} not null,
    network ${text} not null,
    asset ${text} not null,
    provider ${text} not null,
    purchases ${integer} not null,
    renewals ${integer} not null,
    units ${integer} not null,
    paid ${text} not null,
    usd_micros ${integer} not null,
    constraint sales_periods_pk primary key (period, start, network, asset, provider)
  )`,
  sql`create table uncounted_receipts (receipt_id ${text} primary key)`,
  ...OPERATIONS_TRIGGERS[dialect],
]

/** In the database, so that they apply to every release that writes to it, and to manual changes. */
const OPERATIONS_TRIGGERS = {
  sqlite: [
    sql`create trigger receipts_uncounted after insert on receipts begin
       insert into uncounted_receipts (receipt_id) values (new.receipt_id);
     end`,
    // Replacing a row would delete it without running a trigger.
    sql`create trigger audit_log_at_end before insert on audit_log
     when new.sequence <> coalesce((select max(sequence) from audit_log), 0) + 1 begin
       select raise(abort, 'the audit log is append-only');
     end`,
    sql`create trigger audit_log_no_update before update on audit_log begin
       select raise(abort, 'the audit log is append-only');
     end`,
    sql`create trigger audit_log_no_delete before delete on audit_log begin
       select raise(abort, 'the audit log is append-only');
     end`,
  ],
  postgres: [
    sql`create function svc_note_uncounted_receipt() returns trigger language plpgsql as $$ begin
       insert into uncounted_receipts (receipt_id) values (new.receipt_id);
       return null;
     end $$`,
    sql`create trigger receipts_uncounted after insert on receipts
       for each row execute function svc_note_uncounted_receipt()`,
    sql`create function svc_refuse_audit_change() returns trigger language plpgsql as $$ begin
       raise exception 'the audit log is append-only';
     end $$`,
    sql`create trigger audit_log_append_only before update or delete or truncate on audit_log
       for each statement execute function svc_refuse_audit_change()`,
  ],
}

const continuity: Statements = ({ text, integer }) => [
  sql`create table lost_statements (
    proof_id ${text} primary key,
    sequence ${integer} not null,
    statement_digest ${text} not null,
    noted_at ${integer} not null
  )`,
  sql`create table lost_receipts (
    receipt_hash ${text} primary key,
    network ${text} not null,
    tx ${text} not null,
    proof_id ${text},
    confirmed_at ${integer} not null,
    noted_at ${integer} not null
  )`,
  sql`create index lost_receipts_tx on lost_receipts (tx)`,
  sql`create table revocations (
    revocation_id ${text} primary key,
    revoked_at ${integer} not null,
    revoked ${text} not null
  )`,
  sql`create index revocations_newest on revocations (revoked_at)`,
  sql`create table logbooks (
    process_id ${text} primary key,
    logbook_id ${text} not null,
    host ${text} not null,
    complete_on ${text},
    seen_at ${integer} not null
  )`,
]
