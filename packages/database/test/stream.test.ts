import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { Migrations } from '../src/migrate.ts'

interface Schema {
  row: { id: number; note: string }
}

const migrations: Migrations = {
  '0001-row': async (db, column) => {
    await db.schema
      .createTable('row')
      .addColumn('id', column.integer, (id) => id.primaryKey())
      .addColumn('note', column.text)
      .execute()
  },
}

forEachDatabaseInGate('a stream of rows', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.open<Schema>(migrations)).db)
    for (let start = 0; start < 10_000; start += 1000) {
      const rows = Array.from({ length: 1000 }, (_, i) => ({ id: start + i, note: `row ${start + i}` }))
      await db.insertInto('row').values(rows).execute()
    }
  })

  const allRows = (on: Kysely<Schema>) => on.selectFrom('row').selectAll().where('id', '>=', 0).orderBy('id')

  it('yields 10,000 rows in order', async () => {
    let next = 0
    for await (const row of allRows(db).stream()) expect(row).toEqual({ id: next, note: `row ${next++}` })
    expect(next).toBe(10_000)
  })

  it('yields all rows for any chunk size', async () => {
    for (const chunkSize of [1, 3, 10, 11]) {
      const ids: number[] = []
      for await (const row of allRows(db).where('id', '<', 10).stream(chunkSize)) ids.push(row.id)
      expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    }
  })

  it('blocks no query and no transaction while it is read', async () => {
    let read = 0
    for await (const row of allRows(db).stream(1000)) {
      if (row.id % 1000 === 0) {
        await db
          .transaction()
          .execute((trx) => trx.updateTable('row').set({ note: 'changed' }).where('id', '=', 9999).execute())
        await db.selectFrom('row').selectAll().where('id', '=', row.id).executeTakeFirstOrThrow()
      }
      read++
      if (row.id === 9999) expect(row.note).toBe('row 9999')
    }
    expect(read).toBe(10_000)
    await db.updateTable('row').set({ note: 'row 9999' }).where('id', '=', 9999).execute()
  })

  it('lets the event loop run meanwhile', async () => {
    let immediates = 0
    const counter = () => {
      immediates++
      pending = setImmediate(counter)
    }
    let pending = setImmediate(counter)
    for await (const _row of allRows(db).stream()) {
    }
    clearImmediate(pending)
    expect(immediates).toBeGreaterThan(50)
  })

  it('can be ended early', async () => {
    for await (const row of allRows(db).stream()) if (row.id === 5) break
    expect(await db.selectFrom('row').select('id').where('id', '=', 7).executeTakeFirst()).toEqual({ id: 7 })
  })

  it('sees the changes of its own transaction, also a second time', async () => {
    await db.transaction().execute(async (trx) => {
      await trx.insertInto('row').values({ id: 10_000, note: 'mine' }).execute()
      for (const _time of [1, 2]) {
        let last: string | undefined
        for await (const row of allRows(trx).stream()) last = row.note
        expect(last).toBe('mine')
      }
      await trx.deleteFrom('row').where('id', '=', 10_000).execute()
    })
  })

  it('fails with the error of its query, and leaves the connection usable', async () => {
    const streamTooLarge = async () => {
      const query = db.selectFrom('row').select(sql<number>`9007199254740991 + id`.as('large')).where('id', '<', 3)
      for await (const _row of query.stream(1)) {
      }
    }
    await expect(streamTooLarge()).rejects.toThrow('9007199254740992')
    expect(await allRows(db).limit(1).execute()).toHaveLength(1)
  })
})
