// Numbered; one that has landed is never edited.

import type { Migrations } from '@svc/database/migrate'

type PaymentAssetTables = {
  receipts: { network: string; tx: string; receipt: string }
  payment_transactions: { network: string; tx: string; asset: string }
}

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
}
