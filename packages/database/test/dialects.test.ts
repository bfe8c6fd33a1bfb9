import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { isUniqueViolation } from '../src/dialects.ts'
import type { Migrations } from '../src/migrate.ts'

interface Schema {
  claim: { id: string; tx: string | null; amount: number | null }
}

const migrations: Migrations = {
  '0001-claim': async (db, column) => {
    await db.schema
      .createTable('claim')
      .addColumn('id', column.text, (id) => id.primaryKey())
      .addColumn('tx', column.text, (tx) => tx.unique())
      .addColumn('amount', column.integer, (amount) => amount.notNull())
      .execute()
  },
}

forEachDatabaseInGate('isUniqueViolation', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.open<Schema>(migrations)).db)
    await db.insertInto('claim').values({ id: 'a', tx: 'tx1', amount: 1 }).execute()
  })

  const failureOf = (values: Schema['claim']): Promise<unknown> =>
    db
      .insertInto('claim')
      .values(values)
      .execute()
      .catch((error) => error)

  it('is true for a second row with the same primary or unique key, also within a transaction', async () => {
    expect(isUniqueViolation(await failureOf({ id: 'a', tx: 'tx2', amount: 1 }))).toBe(true)
    const again = { id: 'b', tx: 'tx1', amount: 1 }
    const failing = db.transaction().execute((trx) => trx.insertInto('claim').values(again).execute())
    expect(isUniqueViolation(await failing.catch((error) => error))).toBe(true)
  })

  it('is false for any other error', async () => {
    expect(isUniqueViolation(await failureOf({ id: 'c', tx: 'tx3', amount: null }))).toBe(false)
    expect(isUniqueViolation(await sql`select nothing from nowhere`.execute(db).catch((error) => error))).toBe(false)
    expect(isUniqueViolation(new Error('UNIQUE constraint failed'))).toBe(false)
    expect(isUniqueViolation(undefined)).toBe(false)
  })
})
