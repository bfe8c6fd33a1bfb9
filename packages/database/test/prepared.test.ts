import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql } from 'kysely'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Migrations } from '../src/migrate.ts'
import type { Reader } from '../src/open.ts'
import { openDatabase } from '../src/open.ts'
import { itemInteger, itemText, jsonRows, prepared } from '../src/prepared.ts'

interface Schema {
  account: { id: string; balance: number; picture: Uint8Array | null }
}

const migrations: Migrations = {
  '0001-account': async (db, column) => {
    await db.schema
      .createTable('account')
      .addColumn('id', column.text, (id) => id.primaryKey())
      .addColumn('balance', column.integer)
      .addColumn('picture', column.bytes)
      .execute()
  },
}

forEachDatabaseInGate('a prepared query', (database) => {
  let builds = 0
  const find = prepared((db: Kysely<Schema>, id: string) => {
    builds++
    return db.selectFrom('account').select('balance').where('id', '=', id)
  })
  const insert = prepared((db: Kysely<Schema>, id: string, balance: number, picture: Uint8Array | null) =>
    db
      .insertInto('account')
      .values({ id, balance, picture })
      .onConflict((conflict) => conflict.doNothing()),
  )
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.open<Schema>(migrations)).db)
  })
  beforeEach(async () => {
    await db.deleteFrom('account').execute()
  })

  it('is built once and runs with the values of each call', async () => {
    await insert(db, 'alice', 1, null)
    await insert(db, 'bob', 2, Uint8Array.of(0, 255))
    const answers = await Promise.all(['bob', 'alice', 'nobody'].map((id) => find(db, id)))
    expect(answers.map(({ rows }) => rows)).toEqual([[{ balance: 2 }], [{ balance: 1 }], []])
    expect(builds).toBe(1)
    const { picture } = await db.selectFrom('account').selectAll().where('id', '=', 'bob').executeTakeFirstOrThrow()
    expect([...(picture ?? [])]).toEqual([0, 255])
  })

  it('runs inside a transaction, and is rolled back with it', async () => {
    const failing = db.transaction().execute(async (tx) => {
      await insert(tx, 'alice', 1, null)
      expect((await find(tx, 'alice')).rows).toEqual([{ balance: 1 }])
      throw new Error('rolled back')
    })
    await expect(failing).rejects.toThrow('rolled back')
    expect((await find(db, 'alice')).rows).toEqual([])
  })

  it('accepts any number of rows as one value', async () => {
    const insertAll = prepared((db: Kysely<Schema>, json: string) =>
      db
        .insertInto('account')
        .columns(['id', 'balance'])
        .expression(
          db
            .selectFrom(jsonRows(db, json).as('item'))
            .select([itemText(0).as('id'), itemInteger(1).as('balance')])
            .where(sql<boolean>`true`),
        )
        .onConflict((conflict) => conflict.doNothing())
        .returning('id'),
    )
    const findAll = prepared((db: Kysely<Schema>, json: string) =>
      db
        .selectFrom('account')
        .select(['id', 'balance'])
        .where('id', 'in', db.selectFrom(jsonRows(db, json).as('item')).select(itemText(0).as('id')))
        .orderBy('id'),
    )
    const odd = `it's "odd" \\ é😀`
    await insert(db, 'alice', 1, null)
    const accounts = [
      ['alice', 2],
      ['bob', 9_007_199_254_740_991],
      [odd, -3],
    ]
    expect((await insertAll(db, JSON.stringify(accounts))).rows).toEqual([{ id: 'bob' }, { id: odd }])
    expect((await insertAll(db, '[]')).rows).toEqual([])
    expect((await findAll(db, JSON.stringify([['bob'], [odd], ['nobody'], ['alice']]))).rows).toEqual([
      { id: 'alice', balance: 1 },
      { id: 'bob', balance: 9_007_199_254_740_991 },
      { id: odd, balance: -3 },
    ])
  })

  it('keeps constants, and uses one value in several positions', async () => {
    const between = prepared((db: Kysely<Schema>, balance: number) =>
      db
        .selectFrom('account')
        .select('id')
        .where('id', '!=', 'bob')
        .where('balance', '>=', balance)
        .where((eb) => eb(eb('balance', '-', 10), '<=', balance))
        .orderBy('id'),
    )
    for (const [id, balance] of [
      ['alice', 5],
      ['bob', 6],
      ['carol', 15],
      ['dave', 16],
    ] as const) {
      await insert(db, id, balance, null)
    }
    expect((await between(db, 5)).rows).toEqual([{ id: 'alice' }, { id: 'carol' }])
    expect((await between(db, 6)).rows).toEqual([{ id: 'carol' }, { id: 'dave' }])
  })
})

describe('prepared', () => {
  it('serves several databases, each with its own text', async () => {
    const count = prepared((db: Reader<Schema>) => db.selectFrom('account').select((eb) => eb.fn.countAll().as('n')))
    const databases = await Promise.all([1, 2].map(() => openDatabase<Schema>({ url: 'sqlite::memory:', migrations })))
    const counts = await Promise.all(databases.map(({ db }) => count(db)))
    expect(counts.map(({ rows }) => rows)).toEqual([[{ n: 0 }], [{ n: 0 }]])
    await Promise.all(databases.map(({ close }) => close()))
  })

  it('refuses a query that leaves out a value or computes with one', async () => {
    const { db, close } = await openDatabase<Schema>({ url: 'sqlite::memory:', migrations })
    const ignoring = prepared((db: Reader<Schema>, _id: string) => db.selectFrom('account').selectAll())
    expect(() => ignoring(db, 'alice')).toThrow('value 0 is not a parameter')
    const computing = prepared((db: Reader<Schema>, balance: number) =>
      db
        .selectFrom('account')
        .selectAll()
        .where('balance', '=', balance + 1),
    )
    expect(() => computing(db, 1)).toThrow(TypeError)
    await close()
  })
})
