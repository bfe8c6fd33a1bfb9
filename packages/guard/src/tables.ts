// The tables of nonces and limits. Services put them among their own; what creates them has landed and is never edited.

import type { Migration } from '@svc/database/migrate'

export interface GuardTables {
  nonces: NonceTable
  rate_limits: RateLimitTable
}

/** Nonces of envelopes, each good once; kept until a while after the envelope's end. */
export interface NonceTable {
  signer: string
  nonce: string
  /** Unix seconds after which the row may go. */
  forget_at: number
}

/** What each limited key has used up, as the one time at which all of it will have come back. */
interface RateLimitTable {
  /** Part of a hash: the key itself may hold a receipt id, which opens files. */
  key: string
  /** Unix milliseconds. */
  tat: number
}

export const createGuardTables: Migration = async (db, column) => {
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
