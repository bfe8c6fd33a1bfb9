import { setImmediate } from 'node:timers/promises'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Migrations } from '../src/migrate.ts'
import { openDatabase } from '../src/open.ts'

interface Schema {
  account: { id: string; balance: number; picture: Uint8Array | null }
}

const migrations: Migrations = {
  '0001-account': async (db, column) => {
    await db.schema
      .createTable('account')
      .addColumn('id', column.text, (id) => id.primaryKey())
      .addColumn('balance', column.integer, (balance) => balance.notNull())
      .addColumn('picture', column.bytes)
      .execute()
  },
}

forEachDatabaseInGate('an open database', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.open<Schema>(migrations)).db)
  })
  beforeEach(async () => {
    await db.deleteFrom('account').execute()
    await db.insertInto('account').values({ id: 'alice', balance: 0, picture: null }).execute()
  })

  async function balance(id: string) {
    return (await db.selectFrom('account').select('balance').where('id', '=', id).executeTakeFirst())?.balance
  }

  it('rolls back a transaction whose query fails', async () => {
    const failing = db.transaction().execute(async (trx) => {
      await trx.insertInto('account').values({ id: 'bob', balance: 1, picture: null }).execute()
      await trx.insertInto('account').values({ id: 'alice', balance: 1, picture: null }).execute()
    })
    await expect(failing).rejects.toThrow()
    expect(await balance('bob')).toBeUndefined()
  })

  it('loses none of 100 concurrent read-then-write transactions that lock the row', async () => {
    await Promise.all(
      Array.from({ length: 100 }, () =>
        db.transaction().execute(async (trx) => {
          const row = await trx.selectFrom('account').select('balance').forUpdate().executeTakeFirstOrThrow()
          await trx
            .updateTable('account')
            .set({ balance: row.balance + 1 })
            .execute()
        }),
      ),
    )
    expect(await balance('alice')).toBe(100)
  })

  it('hides uncommitted changes from queries outside their transaction', async () => {
    let outside: Promise<number | undefined> | undefined
    await db.transaction().execute(async (trx) => {
      await trx.updateTable('account').set({ balance: 1 }).execute()
      outside = balance('alice')
      await setImmediate()
      await trx.updateTable('account').set({ balance: 2 }).execute()
    })
    // PostgreSQL answers at once, SQLite after the transaction.
    expect(await outside).toBeOneOf([0, 2])
  })

  it('returns integers up to 2^53 - 1 as numbers and throws for larger ones', async () => {
    await db.updateTable('account').set({ balance: Number.MAX_SAFE_INTEGER }).execute()
    expect(await balance('alice')).toBe(Number.MAX_SAFE_INTEGER)
    const { count } = await db
      .selectFrom('account')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).toBe(1)

    await sql`update account set balance = balance + 1`.execute(db)
    await expect(balance('alice')).rejects.toThrow('9007199254740992')
    await sql`update account set balance = - balance`.execute(db)
    await expect(balance('alice')).rejects.toThrow('-9007199254740992')
    expect(await balance('nobody')).toBeUndefined()
  })

  it('returns a sum as a number', async () => {
    await db.insertInto('account').values({ id: 'bob', balance: Number.MAX_SAFE_INTEGER, picture: null }).execute()
    const sum = db.selectFrom('account').select((eb) => eb.fn.sum<number>('balance').as('sum'))
    expect(await sum.executeTakeFirst()).toEqual({ sum: Number.MAX_SAFE_INTEGER })
    await db.updateTable('account').set({ balance: 1 }).where('id', '=', 'alice').execute()
    await expect(sum.executeTakeFirst()).rejects.toThrow()
  })

  it('orders text by code point', async () => {
    const inOrder = ['', '!', 'A', 'B', 'a', 'b', '~', 'é', '\u{ff5e}', '\u{ffff}', '\u{10000}', '\u{1f600}']
    await db.deleteFrom('account').execute()
    await db
      .insertInto('account')
      .values(inOrder.toReversed().map((id) => ({ id, balance: 0, picture: null })))
      .execute()
    const rows = await db.selectFrom('account').select('id').orderBy('id').execute()
    expect(rows.map(({ id }) => id)).toEqual(inOrder)
    const above = await db.selectFrom('account').select('id').where('id', '>', '\u{ff5e}').orderBy('id').execute()
    expect(above.map(({ id }) => id)).toEqual(inOrder.slice(-3))
  })

  it('waits for a running transaction before it closes', async () => {
    const other = await openDatabase<Schema>({ url: database.url, migrations })
    let closing: Promise<void> | undefined
    await writable(other.db)
      .transaction()
      .execute(async (trx) => {
        await trx.updateTable('account').set({ balance: 1 }).execute()
        closing = other.close()
        await setImmediate()
        await trx.updateTable('account').set({ balance: 2 }).execute()
      })
    await closing
    expect(await balance('alice')).toBe(2)
    await expect(other.db.selectFrom('account').selectAll().execute()).rejects.toThrow()
  })
})

describe('openDatabase', () => {
  it('rejects an unknown scheme with an error that contains nothing else of the URL', async () => {
    const opening = openDatabase({ url: 'mysql://root:secret@localhost/db', migrations: {} })
    await expect(opening).rejects.toThrow('not with "mysql:"')
    await expect(opening).rejects.not.toThrow('secret')
  })

  it('fails with the path of a SQLite file that it cannot open', async () => {
    await expect(openDatabase({ url: 'sqlite:/no/such/folder/a.db', migrations: {} })).rejects.toThrow(
      '/no/such/folder/a.db',
    )
  })
})
