// The tables of nonces and rate limits, which services create in their own migrations. This migration is released and
// never edited.

import type { Change } from '@svc/database/migrate'

export interface GuardTables {
  nonces: NonceTable
  rate_limits: RateLimitTable
}

/** Used nonces, stored until some time after their envelope has expired. */
export interface NonceTable {
  signer: string
  nonce: string
  /** Unix seconds after which the row may be deleted. */
  forget_at: number
}

/** One row for each limited key. */
interface RateLimitTable {
  /** A part of a hash, because the key itself may contain a receipt id, which opens files. */
  key: string
  /** When the key's whole limit is available again, in Unix milliseconds. */
  tat: number
}

export const createGuardTables: Change = async (db, column) => {
  await db.schema
    .createTable('nonces')
    .addColumn('signer', column.text, (c) => c.notNull())
    .addColumn('nonce', column.text, (c) => c.notNull())
    .addColumn('forget_at', column.integer, (c) => c.notNull())
    .addPrimaryKeyConstraint('nonces_pk', ['signer', 'nonce'])
    .execute()
  await db.schema.createIndex('nonces_forget_at').on('nonces').column('forget_at').execute()
  await db.schema
    .createTable('rate_limits')
    .addColumn('key', column.text, (c) => c.primaryKey())
    .addColumn('tat', column.integer, (c) => c.notNull())
    .execute()
}
