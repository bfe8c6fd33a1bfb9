// Migrations run in the order of their numbers. One that has landed is never edited.

import { randomBytes } from 'node:crypto'
import type { Migrations } from '@svc/database/migrate'
import { isSqlite } from '@svc/database/prepared'
import { createGuardTables } from '@svc/guard/tables'
import { createQueueTables } from '@svc/queue/tables'
import { sql } from 'kysely'

type PaymentAssetTables = {
  receipts: { network: string; tx: string; receipt: string }
  payment_transactions: { network: string; tx: string; asset: string }
}

type BorderKeyTables = { snapshot_border_key: { border_key: string } }

export const migrations: Migrations = {
  '0001-signing-keys': async (db, column) => {
    await db.schema
      .createTable('signing_keys')
      .addColumn('public_key_hex', column.text, (c) => c.primaryKey())
      .addColumn('valid_from', column.text, (c) => c.notNull())
      .addColumn('valid_to', column.text)
      .execute()
  },

  '0002-purchases': async (db, column) => {
    await db.schema
      .createTable('pay_requests')
      .addColumn('pay_req_id', column.text, (c) => c.primaryKey())
      .addColumn('created_at', column.integer, (c) => c.notNull())
      .addColumn('expires_at', column.integer, (c) => c.notNull())
      .addColumn('provider', column.text, (c) => c.notNull())
      .addColumn('units', column.integer, (c) => c.notNull())
      .addColumn('quote', column.text, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('idempotency_keys')
      .addColumn('idempotency_key', column.text, (c) => c.primaryKey())
      .addColumn('body_sha256', column.text, (c) => c.notNull())
      .addColumn('pay_req_id', column.text, (c) => c.notNull())
      .addColumn('created_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('idempotency_keys_created_at').on('idempotency_keys').column('created_at').execute()
    await db.schema
      .createTable('payment_transactions')
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('kind', column.text, (c) => c.notNull())
      .addColumn('payer', column.text, (c) => c.notNull())
      .addColumn('received', column.text, (c) => c.notNull())
      .addColumn('bound', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('payment_transactions_pk', ['network', 'tx'])
      .execute()
    await db.schema
      .createTable('receipts')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('pay_req_id', column.text, (c) => c.notNull().unique())
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('payer', column.text, (c) => c.notNull())
      .addColumn('receipt', column.text, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('receipts_tx').on('receipts').column('tx').execute()
  },

  '0003-lockers': async (db, column) => {
    await db.schema
      .createTable('owners')
      .addColumn('owner', column.text, (c) => c.primaryKey())
      .addColumn('locker_count', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('lockers')
      .addColumn('locker_id', column.text, (c) => c.primaryKey())
      .addColumn('receipt_id', column.text, (c) => c.notNull().unique())
      .addColumn('owner', column.text, (c) => c.notNull())
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('provider', column.text, (c) => c.notNull())
      .addColumn('tags', column.text, (c) => c.notNull())
      .addColumn('terms', column.text, (c) => c.notNull())
      .addColumn('created_at', column.text, (c) => c.notNull())
      .addColumn('expires_at', column.text, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('lockers_owner').on('lockers').column('owner').execute()
  },

  '0004-payment-asset': async (db, column) => {
    await db.schema
      .alterTable('payment_transactions')
      .addColumn('asset', column.text, (c) => c.notNull().defaultTo(''))
      .execute()
    const tables = db.$extendTables<PaymentAssetTables>()
    for (const { network, tx, receipt } of await tables.selectFrom('receipts').selectAll().execute()) {
      await tables
        .updateTable('payment_transactions')
        .set({ asset: JSON.parse(receipt).pay_asset })
        .where('network', '=', network)
        .where('tx', '=', tx)
        .execute()
    }
  },

  '0005-x402-settlements': async (db, column) => {
    await db.schema
      .createTable('x402_settlements')
      .addColumn('pay_req_id', column.text, (c) => c.primaryKey())
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('asset', column.text, (c) => c.notNull())
      .addColumn('payment_id', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('raw', column.text, (c) => c.notNull())
      .addColumn('height', column.integer, (c) => c.notNull())
      .addUniqueConstraint('x402_settlements_payment', ['network', 'payment_id'])
      .execute()
  },

  '0006-nonces-and-limits': createGuardTables,

  '0007-files': async (db, column) => {
    const lockers = db.schema.alterTable('lockers')
    await lockers.addColumn('operators', column.text, (c) => c.notNull().defaultTo('[]')).execute()
    await lockers.addColumn('manifest_version', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await lockers.addColumn('manifest_changed_at', column.text).execute()
    await lockers.addColumn('file_count', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await lockers.addColumn('total_bytes', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await db.schema
      .createTable('files')
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('filename', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('expected_hash', column.text)
      .addColumn('object_id', column.text)
      .addColumn('provider_ref', column.text)
      .addColumn('size_bytes', column.integer)
      .addColumn('content_hash', column.text)
      .addColumn('uploaded_at', column.text)
      .addColumn('hash_recorded_at', column.text)
      .addColumn('upload_content_type', column.text, (c) => c.notNull())
      .addColumn('upload_expected_hash', column.text)
      .addColumn('upload_object_id', column.text)
      .addPrimaryKeyConstraint('files_pk', ['locker_id', 'filename'])
      .execute()
    await db.schema.createIndex('files_object_id').on('files').column('object_id').execute()
    await db.schema
      .createTable('objects')
      .addColumn('object_id', column.text, (c) => c.primaryKey())
      .addColumn('provider', column.text, (c) => c.notNull())
      .addColumn('provider_ref', column.text)
      .addColumn('state', column.text, (c) => c.notNull())
      .addColumn('since', column.integer, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('objects_state').on('objects').columns(['state', 'since']).execute()
  },

  '0008-upload-sessions': async (db, column) => {
    await db.schema
      .createTable('upload_sessions')
      .addColumn('session_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('token_hash', column.text, (c) => c.notNull())
      .addColumn('status', column.text, (c) => c.notNull())
      .addColumn('expires_at', column.integer, (c) => c.notNull())
      .addColumn('closed_at', column.integer)
      .addColumn('lease_id', column.text)
      .addColumn('lease_until', column.integer)
      .execute()
    await db.schema
      .createIndex('upload_sessions_closed_at')
      .on('upload_sessions')
      .columns(['closed_at', 'expires_at'])
      .execute()
    await db.schema
      .createTable('upload_session_files')
      .addColumn('session_id', column.text, (c) => c.notNull())
      .addColumn('file_id', column.text, (c) => c.notNull())
      .addColumn('filename', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('size_bytes', column.integer)
      .addColumn('expected_hash', column.text)
      .addColumn('state', column.text, (c) => c.notNull())
      .addColumn('received_bytes', column.integer, (c) => c.notNull())
      .addColumn('part_count', column.integer, (c) => c.notNull())
      .addColumn('top_index', column.integer, (c) => c.notNull())
      .addColumn('revision', column.integer, (c) => c.notNull())
      .addColumn('content_hash', column.text)
      .addColumn('error', column.text)
      .addPrimaryKeyConstraint('upload_session_files_pk', ['session_id', 'file_id'])
      .execute()
    await db.schema
      .createTable('upload_parts')
      .addColumn('session_id', column.text, (c) => c.notNull())
      .addColumn('file_id', column.text, (c) => c.notNull())
      .addColumn('part_index', column.integer, (c) => c.notNull())
      .addColumn('object_id', column.text, (c) => c.notNull())
      .addColumn('size_bytes', column.integer, (c) => c.notNull())
      .addColumn('sha256', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('upload_parts_pk', ['session_id', 'file_id', 'part_index'])
      .execute()
    await db.schema.createIndex('upload_parts_object_id').on('upload_parts').column('object_id').execute()
  },

  '0009-queue': createQueueTables,

  '0010-snapshots': async (db, column) => {
    await db.schema
      .createTable('snapshot_chunks')
      .addColumn('chunk_id', column.text, (c) => c.primaryKey())
      .addColumn('content', column.text, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('snapshots')
      .addColumn('snapshot_key', column.text, (c) => c.primaryKey())
      .addColumn('file_count', column.integer, (c) => c.notNull())
      .addColumn('total_bytes', column.text, (c) => c.notNull())
      .addColumn('merkle_root', column.text, (c) => c.notNull())
      .addColumn('manifest_digest', column.text, (c) => c.notNull())
      .addColumn('chunk_list', column.bytes, (c) => c.notNull())
      .addColumn('block_nodes', column.bytes, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('snapshot_border_key')
      .addColumn('border_key', column.text, (c) => c.notNull())
      .execute()
    await db
      .$extendTables<BorderKeyTables>()
      .insertInto('snapshot_border_key')
      .values({ border_key: randomBytes(32).toString('hex') })
      .execute()
  },

  '0011-attestations': async (db, column) => {
    await db.schema
      .createTable('attestations')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('proof_id', column.text)
      .addColumn('status', column.text)
      .addColumn('sequence', column.integer)
      .addColumn('manifest_version', column.integer)
      .addColumn('attested_at', column.integer)
      .addColumn('status_since', column.integer)
      .addColumn('anchor_error', column.text)
      .execute()
    await db.schema
      .createIndex('attestations_status')
      .on('attestations')
      .columns(['status', 'attested_at', 'receipt_id'])
      .execute()
    await db.schema.createIndex('attestations_attested_at').on('attestations').column('attested_at').execute()
    await db.schema
      .createTable('statements')
      .addColumn('receipt_id', column.text, (c) => c.notNull())
      .addColumn('sequence', column.integer, (c) => c.notNull())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('snapshot_key', column.text, (c) => c.notNull())
      .addColumn('statement_digest', column.text, (c) => c.unique())
      .addColumn('record', column.text, (c) => c.notNull())
      .addColumn('anchor', column.text)
      .addColumn('issued_at', column.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('statements_pk', ['receipt_id', 'sequence'])
      .execute()
  },

  '0012-attest-upkeep': async (db, column) => {
    await db.schema
      .createTable('cron_failures')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('failed_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('payment_codes')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('att_code', column.integer, (c) => c.notNull())
      .addColumn('recorded_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('files_confirmed')
      .on('files')
      .column('locker_id')
      .where(sql.ref('content_hash'), 'is not', null)
      .execute()
  },

  '0013-publications': async (db, column) => {
    await db.schema
      .createTable('publications')
      .addColumn('tx', column.text, (c) => c.primaryKey())
      .addColumn('receipt_id', column.text, (c) => c.notNull())
      .addColumn('sequence', column.integer, (c) => c.notNull())
      .addColumn('draft', column.text, (c) => c.notNull())
      .addColumn('raw', column.text, (c) => c.notNull())
      .addColumn('last_valid_height', column.integer, (c) => c.notNull())
      .addColumn('state', column.text, (c) => c.notNull())
      .addColumn('fee_lamports', column.integer)
      .addColumn('rent_lamports', column.integer)
      .addColumn('sent_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('publications_sent')
      .unique()
      .on('publications')
      .column('receipt_id')
      .where(sql.ref('state'), '=', sql.lit('sent'))
      .execute()
    await db.schema
      .createIndex('publications_good')
      .unique()
      .on('publications')
      .columns(['receipt_id', 'sequence'])
      .where(sql.ref('state'), 'in', sql`('sent', 'landed', 'finalized')`)
      .execute()
    for (const name of ['tx', 'raw']) await db.schema.alterTable('payment_codes').addColumn(name, column.text).execute()
    for (const name of ['last_valid_height', 'slot']) {
      await db.schema.alterTable('payment_codes').addColumn(name, column.integer).execute()
    }
    await db.schema
      .createTable('registry_entries')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('sequence', column.integer, (c) => c.notNull())
      .addColumn('merkle_root', column.text, (c) => c.notNull())
      .addColumn('slot', column.integer, (c) => c.notNull())
      .addColumn('file_count', column.integer, (c) => c.notNull())
      .addColumn('attested_at', column.integer, (c) => c.notNull())
      .addColumn('state', column.text, (c) => c.notNull())
      .addColumn('tx', column.text)
      .addColumn('raw', column.text)
      .addColumn('block', column.integer)
      .addColumn('fee_wei', column.text)
      .addColumn('error', column.text)
      .addColumn('since', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('registry_entries_open')
      .on('registry_entries')
      .column('since')
      .where(sql.ref('state'), '!=', sql.lit('done'))
      .execute()
    await db.schema.createIndex('publications_state').on('publications').columns(['state', 'sent_at']).execute()
  },

  '0014-settling-objects': async (db, column) => {
    await db.schema
      .createTable('settling_objects')
      .addColumn('object_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('provider', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('size_bytes', column.integer, (c) => c.notNull())
      .addColumn('sha256', column.text, (c) => c.notNull())
      .addColumn('notes', column.text)
      .addColumn('since', column.integer, (c) => c.notNull())
      .addColumn('seen_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('settling_objects_locker').on('settling_objects').column('locker_id').execute()
    await db.schema.createIndex('settling_objects_seen').on('settling_objects').column('seen_at').execute()
  },

  '0016-budgets': async (db, column) => {
    await db.schema
      .createTable('spending')
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('who', column.text, (c) => c.notNull())
      .addColumn('budget', column.text, (c) => c.notNull())
      .addColumn('amount', column.integer, (c) => c.notNull())
      .addColumn('noted_at', column.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('spending_pk', ['tx', 'who'])
      .execute()
    await db.schema.createIndex('spending_who').on('spending').columns(['who', 'noted_at']).execute()
    await db.schema.createIndex('spending_noted_at').on('spending').column('noted_at').execute()
    await db.schema
      .createTable('budget_days')
      .addColumn('budget', column.text, (c) => c.notNull())
      .addColumn('day', column.integer, (c) => c.notNull())
      .addColumn('amount', column.integer, (c) => c.notNull())
      .addColumn('transactions', column.integer, (c) => c.notNull())
      .addColumn('exhausted_limit', column.integer)
      .addPrimaryKeyConstraint('budget_days_pk', ['budget', 'day'])
      .execute()
    await db.schema.alterTable('attestations').addColumn('deferral', column.text).execute()
    await db.schema
      .createIndex('attestations_deferral')
      .on('attestations')
      .column('receipt_id')
      .where(sql.ref('deferral'), 'is not', null)
      .execute()
    await db.schema.alterTable('registry_entries').addColumn('deferred_until', column.integer).execute()
    await db.schema
      .createTable('delivered_contents')
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('sha256', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('object_id', column.text, (c) => c.notNull())
      .addColumn('provider_ref', column.text)
      .addPrimaryKeyConstraint('delivered_contents_pk', ['locker_id', 'sha256', 'content_type'])
      .execute()
    await db.schema.createIndex('delivered_contents_object').on('delivered_contents').column('object_id').execute()
    await db.schema
      .alterTable('lockers')
      .addColumn('delivered_bytes', column.integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .alterTable('settling_objects')
      .addColumn('is_held_back', column.integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },

  '0017-payment-authorizations': async (db, column) => {
    await db.schema
      .createTable('payment_authorizations')
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('authorization_id', column.text, (c) => c.notNull())
      .addColumn('pay_req_id', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('payment_authorizations_pk', ['network', 'authorization_id'])
      .execute()
    await db.schema
      .createIndex('payment_authorizations_pay_req_id')
      .on('payment_authorizations')
      .column('pay_req_id')
      .execute()
    // Settlements on the EVM chain name their authorization: `from:nonce`.
    await sql`insert into payment_authorizations (network, authorization_id, pay_req_id)
      select network, payment_id, pay_req_id from x402_settlements where payment_id like '0x%:0x%'`.execute(db)
  },

  '0018-revocable-access': async (db, column) => {
    const lockers = db.schema.alterTable('lockers')
    await lockers.addColumn('operator_epochs', column.text, (c) => c.notNull().defaultTo('{}')).execute()
    await lockers.addColumn('access_epoch', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await lockers.addColumn('revoked_before', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await lockers.addColumn('link_handle', column.text).execute()
    await lockers.addColumn('link_closed', column.integer, (c) => c.notNull().defaultTo(0)).execute()
    await db.schema.createIndex('lockers_link_handle').unique().on('lockers').column('link_handle').execute()
    const sessions = db.schema.alterTable('upload_sessions')
    await sessions.addColumn('minted_by', column.text).execute()
    await sessions.addColumn('minted_epoch', column.integer).execute()
    await db.schema
      .createTable('direct_uploads')
      .addColumn('object_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('filename', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('expected_hash', column.text)
      .addColumn('minted_by', column.text)
      .addColumn('minted_epoch', column.integer)
      .addColumn('position', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('direct_uploads_file')
      .unique()
      .on('direct_uploads')
      .columns(['locker_id', 'filename', 'position'])
      .execute()
    await sql`
      insert into direct_uploads (object_id, locker_id, filename, content_type, expected_hash, position)
      select o.object_id, f.locker_id, f.filename, f.upload_content_type, f.upload_expected_hash, 1
      from files f join objects o on o.object_id = f.upload_object_id`.execute(db)
    // Earlier releases did not clear it when they swept the object.
    await sql`
      update files set upload_object_id = null
      where upload_object_id is not null and upload_object_id not in (select object_id from direct_uploads)`.execute(db)
  },

  '0019-growth': async (db, column) => {
    await db.schema
      .alterTable('cron_failures')
      .addColumn('retry_at', column.integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema.createIndex('pay_requests_expires_at').on('pay_requests').column('expires_at').execute()
    // Imported records without a status and without a transaction counted as final.
    await sql`update attestations set status = 'computed' where status is null and exists (
      select 1 from statements as s where s.receipt_id = attestations.receipt_id
        and s.sequence = attestations.sequence and s.anchor is null and s.record like '%"oracle_tx":null%')`.execute(db)
  },

  '0020-quote-templates': async (db, column) => {
    await db.schema
      .createTable('quote_templates')
      .addColumn('template_id', column.text, (c) => c.primaryKey())
      .addColumn('template', column.text, (c) => c.notNull())
      .addColumn('stored_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .alterTable('pay_requests')
      .addColumn('template_id', column.text, (c) => c.references('quote_templates.template_id'))
      .execute()
    await db.schema.createIndex('pay_requests_template_id').on('pay_requests').column('template_id').execute()
  },

  '0021-parts-in-place': async (db, column) => {
    const files = db.schema.alterTable('upload_session_files')
    await files.addColumn('object_id', column.text).execute()
    await files.addColumn('upload_ref', column.text).execute()
    await files.addColumn('upload_state', column.text).execute()
    const parts = db.schema.alterTable('upload_parts')
    await parts.addColumn('part_ref', column.text).execute()
    await parts.addColumn('part_start', column.integer).execute()
  },

  '0022-lockers-of-a-wallet': async (db, column) => {
    const confirmedAt = isSqlite(db) ? sql`receipt ->> 'confirmed_at'` : sql`cast(receipt as json) ->> 'confirmed_at'`
    const operators = isSqlite(db)
      ? sql`json_each(l.operators)`
      : sql`json_array_elements_text(cast(l.operators as json))`
    await db.schema
      .alterTable('receipts')
      .addColumn('confirmed_at', column.text, (c) => c.notNull().defaultTo(''))
      .execute()
    await sql`update receipts set confirmed_at = coalesce(${confirmedAt}, '')`.execute(db)
    await db.schema
      .createIndex('receipts_payer')
      .on('receipts')
      .columns(['payer', 'confirmed_at', 'receipt_id'])
      .execute()
    await db.schema
      .createTable('locker_operators')
      .addColumn('operator', column.text, (c) => c.notNull())
      .addColumn('receipt_id', column.text, (c) => c.notNull())
      .addColumn('confirmed_at', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('locker_operators_pk', ['operator', 'receipt_id'])
      .execute()
    await sql`
      insert into locker_operators (operator, receipt_id, confirmed_at)
      select o.value, l.receipt_id, r.confirmed_at
      from lockers l join receipts r on r.receipt_id = l.receipt_id cross join ${operators} as o
      where l.operators <> '[]'`.execute(db)
    await db.schema
      .createIndex('locker_operators_newest')
      .on('locker_operators')
      .columns(['operator', 'confirmed_at', 'receipt_id'])
      .execute()
  },

  '0023-usage-and-renewals': async (db, column) => {
    // Both with a constant default, so that no row of a large table is written.
    await db.schema.alterTable('files').addColumn('object_bytes', column.integer).execute()
    await db.schema
      .alterTable('lockers')
      .addColumn('unconfirmed_bytes', column.integer, (c) => c.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('renewals')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('terms', column.text, (c) => c.notNull())
      .addColumn('renewed_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('renewals_locker').on('renewals').columns(['locker_id', 'renewed_at']).execute()
    await db.schema
      .createTable('locker_egress')
      .addColumn('locker_id', column.text, (c) => c.primaryKey())
      .addColumn('bytes', column.integer, (c) => c.notNull())
      .execute()
  },

  '0024-search-for-settlements': async (db, column) => {
    await db.schema.alterTable('x402_settlements').addColumn('searched_to', column.integer).execute()
  },

  '0025-operations': async (db, column) => {
    const lockers = db.schema.alterTable('lockers')
    for (const name of ['restriction', 'restricted_at', 'restriction_notice'])
      await lockers.addColumn(name, column.text).execute()
    await db.schema
      .createIndex('lockers_restriction')
      .on('lockers')
      .column('restriction')
      .where(sql.ref('restriction'), 'is not', null)
      .execute()
    await db.schema
      .createTable('audit_log')
      .addColumn('sequence', column.integer, (c) => c.primaryKey())
      .addColumn('at', column.text, (c) => c.notNull())
      .addColumn('actor', column.text, (c) => c.notNull())
      .addColumn('action', column.text, (c) => c.notNull())
      .addColumn('target', column.text, (c) => c.notNull())
      .addColumn('outcome', column.text, (c) => c.notNull())
      .addColumn('reason', column.text, (c) => c.notNull())
      .addColumn('details', column.text, (c) => c.notNull())
      .addColumn('previous_hash', column.text, (c) => c.notNull())
      .addColumn('hash', column.text, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('audit_log_target').on('audit_log').columns(['target', 'sequence']).execute()
    await db.schema
      .createTable('payment_refunds')
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('asset', column.text, (c) => c.notNull())
      .addColumn('amount', column.text, (c) => c.notNull())
      .addColumn('refund_tx', column.text)
      .addColumn('decided_by', column.text, (c) => c.notNull())
      .addColumn('decided_at', column.text, (c) => c.notNull())
      .addColumn('reason', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('payment_refunds_pk', ['network', 'tx'])
      .execute()
    await db.schema
      .createTable('growth_samples')
      .addColumn('sampled_at', column.integer, (c) => c.primaryKey())
      .addColumn('lockers', column.integer, (c) => c.notNull())
      .addColumn('files', column.integer, (c) => c.notNull())
      .addColumn('bytes', column.integer, (c) => c.notNull())
      .addColumn('purchases', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('sales_periods')
      .addColumn('period', column.text, (c) => c.notNull())
      .addColumn('start', column.integer, (c) => c.notNull())
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('asset', column.text, (c) => c.notNull())
      .addColumn('provider', column.text, (c) => c.notNull())
      .addColumn('purchases', column.integer, (c) => c.notNull())
      .addColumn('renewals', column.integer, (c) => c.notNull())
      .addColumn('units', column.integer, (c) => c.notNull())
      .addColumn('paid', column.text, (c) => c.notNull())
      .addColumn('usd_micros', column.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('sales_periods_pk', ['period', 'start', 'network', 'asset', 'provider'])
      .execute()
    await db.schema
      .createTable('uncounted_receipts')
      .addColumn('receipt_id', column.text, (c) => c.primaryKey())
      .execute()
    await db.schema
      .createIndex('receipts_confirmed_at')
      .on('receipts')
      .columns(['confirmed_at', 'receipt_id'])
      .execute()
    for (const statement of isSqlite(db) ? OPERATIONS_TRIGGERS.sqlite : OPERATIONS_TRIGGERS.postgres)
      await sql.raw(statement).execute(db)
    // After the trigger, which waits for writers of earlier releases: each receipt is noted by one of the two.
    await sql`insert into uncounted_receipts (receipt_id) select receipt_id from receipts where true
      on conflict do nothing`.execute(db)
  },

  '0026-several-refunds': async (db, column) => {
    await db.schema
      .createTable('refunds')
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('position', column.integer, (c) => c.notNull())
      .addColumn('asset', column.text, (c) => c.notNull())
      .addColumn('amount', column.text, (c) => c.notNull())
      .addColumn('received', column.text, (c) => c.notNull())
      .addColumn('refund_tx', column.text)
      .addColumn('decided_by', column.text, (c) => c.notNull())
      .addColumn('decided_at', column.text, (c) => c.notNull())
      .addColumn('reason', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('refunds_pk', ['network', 'tx', 'position'])
      .execute()
    // The table before stays for processes that know no other. Where it is not known what arrived, nothing more can be
    // claimed or refunded.
    await sql`insert into refunds
      select r.network, r.tx, 0, r.asset, r.amount,
        coalesce((select p.received from payment_transactions p
          where p.network = r.network and p.tx = r.tx and p.asset = r.asset), r.amount),
        r.refund_tx, r.decided_by, r.decided_at, r.reason
      from payment_refunds r`.execute(db)
  },

  '0027-continuity': async (db, column) => {
    await db.schema
      .createTable('lost_statements')
      .addColumn('proof_id', column.text, (c) => c.primaryKey())
      .addColumn('sequence', column.integer, (c) => c.notNull())
      .addColumn('statement_digest', column.text, (c) => c.notNull())
      .addColumn('noted_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('lost_receipts')
      .addColumn('receipt_hash', column.text, (c) => c.primaryKey())
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('proof_id', column.text)
      .addColumn('confirmed_at', column.integer, (c) => c.notNull())
      .addColumn('noted_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('lost_receipts_tx').on('lost_receipts').column('tx').execute()
    await db.schema.createIndex('attestations_proof').on('attestations').column('proof_id').execute()
    const proof = isSqlite(db) ? sql`receipt ->> 'proof_id'` : sql`cast(receipt as json) ->> 'proof_id'`
    await sql`create index receipts_proof on receipts ((${proof}))`.execute(db)
  },

  '0029-key-changes': async (db, column) => {
    await db.schema.alterTable('signing_keys').addColumn('revoked_since', column.text).execute()
    await db.schema
      .createTable('announced_keys')
      .addColumn('public_key_hex', column.text, (c) => c.primaryKey())
      .addColumn('purpose', column.text, (c) => c.notNull())
      .addColumn('valid_from', column.text, (c) => c.notNull())
      .addColumn('announced_at', column.text, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('key_changes')
      .addColumn('kind', column.text, (c) => c.notNull())
      .addColumn('purpose', column.text, (c) => c.notNull())
      .addColumn('public_key_hex', column.text, (c) => c.notNull())
      .addColumn('signed_by', column.text, (c) => c.notNull())
      .addColumn('document', column.text, (c) => c.notNull())
      .addColumn('issued_at', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('key_changes_pk', ['kind', 'public_key_hex', 'signed_by'])
      .execute()
  },

  '0030-s3-keys': async (db, column) => {
    await db.schema
      .createTable('s3_keys')
      .addColumn('access_key_id', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('name', column.text, (c) => c.notNull())
      .addColumn('access', column.text, (c) => c.notNull())
      .addColumn('prefix', column.text, (c) => c.notNull())
      .addColumn('minted_by', column.text, (c) => c.notNull())
      .addColumn('minted_epoch', column.integer, (c) => c.notNull())
      .addColumn('created_at', column.integer, (c) => c.notNull())
      .addColumn('expires_at', column.integer, (c) => c.notNull())
      .addColumn('last_used_at', column.integer)
      .execute()
    await db.schema.createIndex('s3_keys_locker').on('s3_keys').column('locker_id').execute()
    await db.schema.createIndex('s3_keys_expires_at').on('s3_keys').column('expires_at').execute()
  },

  '0031-file-metadata': async (db, column) => {
    await db.schema.alterTable('files').addColumn('metadata', column.text).execute()
  },

  '0032-s3-folders': async (db, column) => {
    await db.schema
      .createTable('s3_folders')
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('folder', column.text, (c) => c.notNull())
      .addColumn('content_type', column.text, (c) => c.notNull())
      .addColumn('metadata', column.text)
      .addColumn('created_at', column.integer, (c) => c.notNull())
      .addPrimaryKeyConstraint('s3_folders_pk', ['locker_id', 'folder'])
      .execute()
  },

  '0033-s3-multipart': async (db, column) => {
    const sessions = db.schema.alterTable('upload_sessions')
    await sessions.addColumn('door', column.text).execute()
    await sessions.addColumn('opened_at', column.integer).execute()
    const files = db.schema.alterTable('upload_session_files')
    for (const name of ['metadata', 'checksum_algorithm', 'checksum_type', 'checksum', 'chosen_parts', 'replaces']) {
      await files.addColumn(name, column.text).execute()
    }
    await files.addColumn('chosen_revision', column.integer).execute()
    const parts = db.schema.alterTable('upload_parts')
    await parts.addColumn('checksum', column.text).execute()
    await parts.addColumn('received_at', column.integer).execute()
    await db.schema
      .createIndex('upload_sessions_open')
      .on('upload_sessions')
      .column('locker_id')
      .where(sql.ref('closed_at'), 'is', null)
      .execute()
  },

  '0034-tus': async (db, column) => {
    await db.schema
      .createTable('tus_uploads')
      .addColumn('session_id', column.text, (c) => c.primaryKey())
      .addColumn('kind', column.text, (c) => c.notNull())
      .addColumn('upload_metadata', column.text)
      .addColumn('upload_concat', column.text)
      .addColumn('block_bytes', column.integer, (c) => c.notNull())
      .execute()
  },

  '0035-watched-quotes': async (db, column) => {
    await db.schema
      .createTable('watched_quotes')
      .addColumn('pay_req_id', column.text, (c) => c.primaryKey())
      .addColumn('watched_at', column.integer, (c) => c.notNull())
      .addColumn('watched_until', column.integer, (c) => c.notNull())
      .addColumn('due_at', column.integer, (c) => c.notNull())
      .addColumn('looked_at', column.integer)
      .addColumn('passed_tx', column.text)
      .addColumn('tx', column.text)
      .addColumn('asset', column.text)
      .execute()
    await db.schema.createIndex('watched_quotes_due').on('watched_quotes').column('due_at').execute()
  },

  '0036-log': async (db, column) => {
    await db.schema
      .createTable('logs')
      .addColumn('origin', column.text, (c) => c.primaryKey())
      .addColumn('public_key_hex', column.text, (c) => c.notNull())
      .execute()
    await db.schema
      .createTable('log_entries')
      .addColumn('statement_digest', column.text, (c) => c.primaryKey())
      .addColumn('entry_index', column.integer)
      .addColumn('position', column.integer)
      .addColumn('receipt_id', column.text)
      .addColumn('sequence', column.integer)
      .execute()
    // Apart, because SQLite would look for those that wait in an index of all, which is not in their order.
    await db.schema
      .createIndex('log_entries_placed')
      .unique()
      .on('log_entries')
      .column('entry_index')
      .where(sql.ref('entry_index'), 'is not', null)
      .execute()
    await db.schema
      .createIndex('log_entries_waiting')
      .on('log_entries')
      .column('position')
      .where(sql.ref('entry_index'), 'is', null)
      .execute()
    await db.schema
      .createTable('log_checkpoints')
      .addColumn('size', column.integer, (c) => c.primaryKey())
      .addColumn('root', column.text, (c) => c.notNull())
      .addColumn('note', column.text, (c) => c.notNull())
      .addColumn('signed_at', column.integer, (c) => c.notNull())
      .execute()
    for (const statement of isSqlite(db) ? LOG_TRIGGERS.sqlite : LOG_TRIGGERS.postgres)
      await sql.raw(statement).execute(db)
    // After the trigger, as above. Clocks may have been set back: the statements of a receipt stay in their order.
    await sql`insert into log_entries (statement_digest, entry_index, receipt_id, sequence)
      select statement_digest, row_number() over (order by at, receipt_id, sequence) - 1, receipt_id, sequence
      from (select statement_digest, receipt_id, sequence,
          max(issued_at) over (partition by receipt_id order by sequence) as at
        from statements where statement_digest is not null) as dated
      where true on conflict do nothing`.execute(db)
  },

  '0037-log-anchors': async (db, column) => {
    await db.schema
      .alterTable('lockers')
      .addColumn('anchoring', column.text, (c) => c.notNull().defaultTo('each'))
      .execute()
    await db.schema
      .createTable('log_cosignatures')
      .addColumn('size', column.integer, (c) => c.primaryKey())
      .addColumn('lines', column.text, (c) => c.notNull())
      .addColumn('is_quorum', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('log_cosignatures_quorum')
      .on('log_cosignatures')
      .column('size')
      .where(sql.ref('is_quorum'), '=', sql.lit(1))
      .execute()
    await db.schema
      .createTable('log_witnesses')
      .addColumn('witness', column.text, (c) => c.primaryKey())
      .addColumn('size', column.integer, (c) => c.notNull())
      .addColumn('cosigned_at', column.integer)
      .addColumn('failing_since', column.integer)
      .addColumn('problem', column.text)
      .execute()
    await db.schema
      .createTable('log_anchors')
      .addColumn('tx', column.text, (c) => c.primaryKey())
      .addColumn('size', column.integer, (c) => c.notNull())
      .addColumn('payload', column.text, (c) => c.notNull())
      .addColumn('signer', column.text, (c) => c.notNull())
      .addColumn('raw', column.text, (c) => c.notNull())
      .addColumn('last_valid_height', column.integer, (c) => c.notNull())
      .addColumn('state', column.text, (c) => c.notNull())
      .addColumn('slot', column.integer)
      .addColumn('block_time', column.integer)
      .addColumn('fee_lamports', column.integer)
      .addColumn('sent_at', column.integer, (c) => c.notNull())
      .execute()
    await db.schema
      .createIndex('log_anchors_sent')
      .unique()
      .on('log_anchors')
      .column('state')
      .where(sql.ref('state'), '=', sql.lit('sent'))
      .execute()
    await db.schema
      .createIndex('log_anchors_size')
      .unique()
      .on('log_anchors')
      .column('size')
      .where(sql.ref('state'), 'in', sql`('sent', 'landed', 'finalized')`)
      .execute()
  },

  '0039-revocations': async (db, column) => {
    await db.schema
      .createTable('revocations')
      .addColumn('revocation_id', column.text, (c) => c.primaryKey())
      .addColumn('revoked_at', column.integer, (c) => c.notNull())
      .addColumn('revoked', column.text, (c) => c.notNull())
      .execute()
    await db.schema.createIndex('revocations_newest').on('revocations').column('revoked_at').execute()
  },

  '0040-logbooks': async (db, column) => {
    await db.schema
      .createTable('logbooks')
      .addColumn('process_id', column.text, (c) => c.primaryKey())
      .addColumn('logbook_id', column.text, (c) => c.notNull())
      .addColumn('host', column.text, (c) => c.notNull())
      .addColumn('complete_on', column.text)
      .addColumn('seen_at', column.integer, (c) => c.notNull())
      .execute()
  },

  '0041-ends-of-uploads': async (db, column) => {
    await db.schema.alterTable('upload_sessions').addColumn('s3_key', column.text).execute()
    await db.schema
      .alterTable('upload_session_files')
      .addColumn('stray_bytes', column.integer, (c) => c.notNull().defaultTo(0))
      .execute()
  },

  '0042-released-bytes': async (db, column) => {
    const objects = db.schema.alterTable('objects')
    await objects.addColumn('locker_id', column.text).execute()
    await objects.addColumn('size_bytes', column.integer).execute()
    await db.schema
      .createIndex('objects_released')
      .on('objects')
      .column('locker_id')
      .where(sql.ref('state'), '=', sql.lit('released'))
      .execute()
  },

  '0043-statement-budgets': async (db, column) => {
    await db.schema.alterTable('attestations').addColumn('whole_budget_at', column.integer).execute()
  },

  '0044-lost-sales': async (db, column) => {
    await db.schema.alterTable('lost_receipts').addColumn('sale', column.text).execute()
  },

  '0045-promised-bytes': async (db, column) => {
    await db.schema.alterTable('direct_uploads').addColumn('promised_bytes', column.integer).execute()
    await db.schema.alterTable('direct_uploads').addColumn('look_at', column.integer).execute()
    await db.schema.createIndex('direct_uploads_look_at').on('direct_uploads').column('look_at').execute()
  },
}

/** In the database, so that they hold for every release that writes to it, and for hands at its console. */
const OPERATIONS_TRIGGERS = {
  sqlite: [
    `create trigger receipts_uncounted after insert on receipts begin
       insert into uncounted_receipts (receipt_id) values (new.receipt_id);
     end`,
    // A row that takes the place of another would be deleted without a trigger.
    `create trigger audit_log_at_end before insert on audit_log
     when new.sequence <> coalesce((select max(sequence) from audit_log), 0) + 1 begin
       select raise(abort, 'the audit log is append-only');
     end`,
    `create trigger audit_log_no_update before update on audit_log begin
       select raise(abort, 'the audit log is append-only');
     end`,
    `create trigger audit_log_no_delete before delete on audit_log begin
       select raise(abort, 'the audit log is append-only');
     end`,
  ],
  postgres: [
    `create function svc_note_uncounted_receipt() returns trigger language plpgsql as $$ begin
       insert into uncounted_receipts (receipt_id) values (new.receipt_id);
       return null;
     end $$`,
    `create trigger receipts_uncounted after insert on receipts
       for each row execute function svc_note_uncounted_receipt()`,
    `create function svc_refuse_audit_change() returns trigger language plpgsql as $$ begin
       raise exception 'the audit log is append-only';
     end $$`,
    `create trigger audit_log_append_only before update or delete or truncate on audit_log
       for each statement execute function svc_refuse_audit_change()`,
  ],
}

/** Every statement waits for its place in the log from its own transaction on, whichever release writes it. */
const LOG_TRIGGERS = {
  sqlite: [
    `create trigger statements_logged after insert on statements when new.statement_digest is not null begin
       insert into log_entries (statement_digest, position, receipt_id, sequence)
       values (new.statement_digest,
         (select coalesce(max(position), 0) + 1 from log_entries where entry_index is null),
         new.receipt_id, new.sequence)
       on conflict (statement_digest) do update set receipt_id = excluded.receipt_id, sequence = excluded.sequence;
     end`,
  ],
  postgres: [
    // Above those of a database that was moved here.
    'create sequence log_positions start with 1000000000000',
    `create function svc_log_statement() returns trigger language plpgsql as $$ begin
       insert into log_entries (statement_digest, position, receipt_id, sequence)
       values (new.statement_digest, nextval('log_positions'), new.receipt_id, new.sequence)
       on conflict (statement_digest) do update set receipt_id = excluded.receipt_id, sequence = excluded.sequence;
       return null;
     end $$`,
    `create trigger statements_logged after insert on statements
       for each row when (new.statement_digest is not null) execute function svc_log_statement()`,
  ],
}
