// Migrations run in the order of their numbers. One that has landed is never edited.

import type { Migrations } from '@svc/database/migrate'
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
}
