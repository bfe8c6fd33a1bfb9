// Numbered. A released migration is never edited.

import type { Change, Migrations } from '@svc/database/migrate'
import { createQueueTables } from '@svc/database/queue/tables'
import { createGuardTables } from '@svc/service/guard/tables'
import { sql } from 'kysely'

/** The schema of release 1.1.0. */
const createBaseline: Change = async (db, column) => {
  await createQueueTables(db, column)
  await createGuardTables(db, column)

  await db.schema
    .createTable('pay_requests')
    .addColumn('pay_req_id', column.text, (c) => c.primaryKey())
    .addColumn('created_at', column.integer, (c) => c.notNull())
    .addColumn('expires_at', column.integer, (c) => c.notNull())
    .addColumn('quote', column.text, (c) => c.notNull())
    .execute()
  await db.schema.createIndex('pay_requests_expires_at').on('pay_requests').column('expires_at').execute()
  await db.schema
    .createTable('receipts')
    .addColumn('receipt_id', column.text, (c) => c.primaryKey())
    .addColumn('pay_req_id', column.text, (c) => c.notNull().unique())
    .addColumn('network', column.text, (c) => c.notNull())
    .addColumn('tx', column.text, (c) => c.notNull())
    .addColumn('identity', column.text, (c) => c.notNull())
    .addColumn('receipt', column.text, (c) => c.notNull())
    .addColumn('subscription_id', column.text, (c) => c.notNull())
    .addColumn('starts_at', column.integer, (c) => c.notNull())
    .addColumn('expires_at', column.integer, (c) => c.notNull())
    .addUniqueConstraint('receipts_tx', ['network', 'tx'])
    .execute()
  await db.schema.createIndex('receipts_identity').on('receipts').column('identity').execute()
  await db.schema
    .createTable('subscriptions')
    .addColumn('identity', column.text, (c) => c.primaryKey())
    .addColumn('subscription_id', column.text, (c) => c.notNull().unique())
    .addColumn('starts_at', column.integer, (c) => c.notNull())
    .addColumn('expires_at', column.integer, (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('delegations')
    .addColumn('delegation_id', column.text, (c) => c.primaryKey())
    .addColumn('identity', column.text, (c) => c.notNull())
    .addColumn('receipt_id', column.text, (c) => c.notNull())
    .addColumn('locker_id', column.text, (c) => c.notNull())
    .addColumn('state', column.text, (c) => c.notNull())
    .addColumn('tasks', column.text, (c) => c.notNull())
    .addColumn('created_at', column.integer, (c) => c.notNull())
    .addColumn('registered_at', column.integer)
    .addColumn('ended_at', column.integer)
    .addColumn('check_at', column.integer)
    .addColumn('checks', column.integer, (c) => c.notNull())
    .addColumn('mirror_at', column.integer)
    .addColumn('watch_at', column.integer)
    .addColumn('finding_count', column.integer, (c) => c.notNull())
    .addColumn('alert_count', column.integer, (c) => c.notNull())
    .addColumn('last_digest', column.text)
    .execute()
  await db.schema.createIndex('delegations_receipt').on('delegations').column('receipt_id').execute()
  await db.schema.createIndex('delegations_identity').on('delegations').column('identity').execute()
  await db.schema
    .createIndex('delegations_one_a_receipt')
    .on('delegations')
    .column('receipt_id')
    .unique()
    .where(sql.ref('ended_at'), 'is', null)
    .execute()
  for (const due of ['check_at', 'mirror_at', 'watch_at'])
    await db.schema
      .createIndex(`delegations_${due}`)
      .on('delegations')
      .column(due)
      .where(sql.ref(due), 'is not', null)
      .execute()

  await db.schema
    .createTable('runs')
    .addColumn('run_id', column.text, (c) => c.primaryKey())
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('task', column.text, (c) => c.notNull())
    .addColumn('started_at', column.integer, (c) => c.notNull())
    .addColumn('finished_at', column.integer)
    .addColumn('outcome', column.text, (c) => c.notNull())
    .addColumn('summary', column.text, (c) => c.notNull())
    .addColumn('found', column.text, (c) => c.notNull().defaultTo('{}'))
    .execute()
  await db.schema.createIndex('runs_delegation').on('runs').columns(['delegation_id', 'started_at']).execute()
  await db.schema
    .createIndex('runs_one_under_way')
    .on('runs')
    .columns(['delegation_id', 'task'])
    .unique()
    .where(sql.ref('finished_at'), 'is', null)
    .execute()
  await db.schema
    .createTable('seen_files')
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('filename', column.text, (c) => c.notNull())
    .addColumn('sha256', column.text, (c) => c.notNull())
    .addColumn('size_bytes', column.integer, (c) => c.notNull())
    .addColumn('run_id', column.text, (c) => c.notNull())
    .addColumn('read_at', column.integer)
    .addColumn('trouble', column.text)
    .addPrimaryKeyConstraint('seen_files_pk', ['delegation_id', 'filename'])
    .execute()
  // `coalesce`, because the databases sort nulls differently and files that were never read come first.
  await sql`create index seen_files_read on seen_files (delegation_id, coalesce(read_at, 0), filename)`.execute(db)
  await db.schema
    .createTable('seen_statements')
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('sequence', column.integer, (c) => c.notNull())
    .addColumn('digest', column.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('seen_statements_pk', ['delegation_id', 'sequence'])
    .execute()
  await db.schema
    .createTable('mirrors')
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('filename', column.text, (c) => c.notNull())
    .addColumn('url', column.text, (c) => c.notNull())
    .addColumn('sha256', column.text)
    .addColumn('run_id', column.text, (c) => c.notNull())
    .addColumn('fetched_at', column.integer)
    .addColumn('trouble', column.text)
    .addPrimaryKeyConstraint('mirrors_pk', ['delegation_id', 'filename'])
    .execute()
  await db.schema
    .createTable('findings')
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('sequence', column.integer, (c) => c.notNull())
    .addColumn('severity', column.text, (c) => c.notNull())
    .addColumn('finding', column.text, (c) => c.notNull())
    .addPrimaryKeyConstraint('findings_pk', ['delegation_id', 'sequence'])
    .execute()
  await db.schema
    .createTable('deliveries')
    .addColumn('delivery_id', column.text, (c) => c.primaryKey())
    .addColumn('delegation_id', column.text, (c) => c.notNull())
    .addColumn('sequence', column.integer, (c) => c.notNull())
    .addColumn('url', column.text, (c) => c.notNull())
    .addColumn('created_at', column.integer, (c) => c.notNull())
    .addColumn('delivered_at', column.integer)
    .addColumn('error', column.text)
    .addUniqueConstraint('deliveries_finding', ['delegation_id', 'sequence'])
    .execute()
  await db.schema
    .createIndex('deliveries_state')
    .on('deliveries')
    .columns(['delegation_id', 'delivered_at', 'sequence'])
    .execute()
  await db.schema.createIndex('deliveries_created_at').on('deliveries').column('created_at').execute()
  await db.schema
    .createTable('journal')
    .addColumn('key', column.text, (c) => c.primaryKey())
    .addColumn('value', column.text, (c) => c.notNull())
    .execute()
}

export const migrations: Migrations = {
  '0006-bounds': { release: '1.1.0', first: '0001-queue', create: createBaseline },
}
