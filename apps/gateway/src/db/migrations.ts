// Numbered; one that has landed is never edited.

import type { Migrations } from '@svc/database/migrate'

export const migrations: Migrations = {
  '0001-signing-keys': async (db, column) => {
    await db.schema
      .createTable('signing_keys')
      .addColumn('public_key_hex', column.text, (c) => c.primaryKey())
      .addColumn('valid_from', column.text, (c) => c.notNull())
      .addColumn('valid_to', column.text)
      .execute()
  },
}
