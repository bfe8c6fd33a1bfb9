// Migrations run in the order of their numbers. A released one is never edited.

import type { Migrations } from '@svc/database/migrate'
import { sql } from 'kysely'
import { createBaseline } from './baseline.ts'

export const migrations: Migrations = {
  '0043-statement-budgets': { release: '1.1.0', first: '0001-signing-keys', create: createBaseline },

  '0044-lost-sales': async (db, column) => {
    await db.schema.alterTable('lost_receipts').addColumn('sale', column.text).execute()
  },

  '0045-promised-bytes': async (db, column) => {
    await db.schema.alterTable('direct_uploads').addColumn('promised_bytes', column.integer).execute()
    await db.schema.alterTable('direct_uploads').addColumn('look_at', column.integer).execute()
    await db.schema.createIndex('direct_uploads_look_at').on('direct_uploads').column('look_at').execute()
  },

  '0046-journal': async (db, column) => {
    await db.schema
      .createTable('journal_pending')
      .addColumn('kind', column.text, (c) => c.notNull())
      .addColumn('key', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('journal_pending_key', ['kind', 'key'])
      .execute()
    await db.schema
      .createTable('journal_files')
      .addColumn('file', column.text, (c) => c.primaryKey())
      .addColumn('read_to', column.integer, (c) => c.notNull())
      .execute()
    const attestations = db.schema.alterTable('attestations')
    await attestations.addColumn('lost_sequence', column.integer).execute()
    await attestations.addColumn('lost_digest', column.text).execute()
    // Receipts that release 1.1.0 has accepted as lost.
    await sql`
      update attestations set
        lost_sequence = (select l.sequence from lost_statements l where l.proof_id = attestations.proof_id),
        lost_digest = (select l.statement_digest from lost_statements l where l.proof_id = attestations.proof_id)
      where proof_id in (select proof_id from lost_statements)`.execute(db)
  },

  '0047-unclaimed-payments': async (db, column) => {
    await db.schema
      .createTable('unclaimed_payments')
      .addColumn('network', column.text, (c) => c.notNull())
      .addColumn('tx', column.text, (c) => c.notNull())
      .addColumn('asset', column.text, (c) => c.notNull())
      .addColumn('pay_req_id', column.text, (c) => c.notNull())
      .addColumn('reason', column.text, (c) => c.notNull())
      .addColumn('payer', column.text, (c) => c.notNull())
      .addColumn('received', column.text, (c) => c.notNull())
      .addColumn('noted_at', column.text, (c) => c.notNull())
      .addPrimaryKeyConstraint('unclaimed_payments_pk', ['network', 'tx', 'asset'])
      .execute()
    const index = (name: string) => db.schema.createIndex(name).on('unclaimed_payments')
    await index('unclaimed_payments_noted_at').columns(['noted_at', 'tx', 'asset']).execute()
    await index('unclaimed_payments_pay_req_id').column('pay_req_id').execute()
  },

  '0048-wallet-s3-keys': async (db, column) => {
    await db.schema.alterTable('s3_keys').addColumn('minted_epochs', column.text).execute()
    await db.schema.createIndex('s3_keys_minted_by').on('s3_keys').columns(['locker_id', 'minted_by']).execute()
  },

  '0049-due-pushes': async (db, column) => {
    await db.schema.alterTable('attestations').addColumn('push_at', column.integer).execute()
    await sql`create index attestations_push_at on attestations (push_at) where push_at is not null`.execute(db)
    // Release 1.1.0 abandoned these after its last attempt.
    await sql`
      update attestations set push_at = 0
      where status = 'computed' and anchor_error like '%"retryable":true%'`.execute(db)
  },

  '0050-shares': async (db, column) => {
    await db.schema
      .createTable('shares')
      .addColumn('seed', column.text, (c) => c.primaryKey())
      .addColumn('locker_id', column.text, (c) => c.notNull())
      .addColumn('path', column.text, (c) => c.notNull())
      .addColumn('label', column.text)
      .addColumn('minted_by', column.text, (c) => c.notNull())
      .addColumn('minted_epoch', column.integer, (c) => c.notNull())
      .addColumn('created_at', column.integer, (c) => c.notNull())
      .addColumn('expires_at', column.integer)
      .addColumn('last_used_at', column.integer)
      .execute()
    await db.schema.createIndex('shares_locker').on('shares').column('locker_id').execute()
    await db.schema.createIndex('shares_expires_at').on('shares').column('expires_at').execute()
  },

  '0051-newest-lockers': async (db) => {
    await db.schema.createIndex('lockers_newest').on('lockers').columns(['created_at', 'locker_id']).execute()
  },
}
