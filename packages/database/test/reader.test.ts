import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forEachTest } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import { CompiledQuery, type Kysely, sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { prepared } from '../src/prepared.ts'
import { readSnapshot } from '../src/read-snapshot.ts'
import { isRead } from '../src/reader.ts'

interface Schema {
  things: { name: string }
}

const migrations = {
  '0001-things': async (db: Kysely<unknown>) => {
    await db.schema.createTable('things').addColumn('name', 'text').execute()
  },
}

forEachDatabaseInGate('a reader', (database) => {
  const opened = forEachTest(async () => {
    const { db } = await database.open<Schema>(migrations)
    await writable(db).deleteFrom('things').execute()
    await writable(db).insertInto('things').values({ name: 'kept' }).execute()
    return { db }
  })
  const names = async () => (await opened.db.selectFrom('things').select('name').execute()).map(({ name }) => name)
  /** The writer that the type hides. */
  const asWriter = () => opened.db as Kysely<Schema>

  it.each<[string, () => Promise<unknown>]>([
    ['a raw query', () => opened.db.executeQuery(CompiledQuery.raw('delete from things'))],
    ['its executor', () => opened.db.getExecutor().executeQuery(CompiledQuery.raw('delete from things'))],
    ['raw SQL', () => sql`${sql.raw('delete from things')}`.execute(opened.db)],
    ['a common table expression', () => sql`with a as (select 1) delete from things`.execute(opened.db)],
    [
      'a comment before it',
      () =>
        sql`/* select */ -- select
      delete from things`.execute(opened.db),
    ],
    ['a second statement', () => sql`select 1; delete from things`.execute(opened.db)],
    ['a replacement', () => sql`replace into things values ('a')`.execute(opened.db)],
    ['a cast', () => asWriter().deleteFrom('things').execute()],
    ['a prepared query', () => prepared((db: Kysely<Schema>) => db.deleteFrom('things'))(asWriter())],
    [
      'a connection',
      () =>
        asWriter()
          .connection()
          .execute((db) => db.deleteFrom('things').execute()),
    ],
    [
      'a stream',
      async () => {
        for await (const _ of asWriter().deleteFrom('things').returningAll().stream()) expect.fail('it was deleted')
      },
    ],
    [
      'a transaction',
      () =>
        asWriter()
          .transaction()
          .execute((tx) => tx.deleteFrom('things').execute()),
    ],
    ['a transaction by hand', () => asWriter().startTransaction().execute()],
    [
      'a transaction that claims to be read only',
      () =>
        asWriter()
          .transaction()
          .setAccessMode('read only')
          .execute((tx) => tx.deleteFrom('things').execute()),
    ],
    ['its schema', () => asWriter().schema.dropTable('things').execute()],
    ['a lock', () => asWriter().selectFrom('things').selectAll().forUpdate().execute()],
    ['a prepared lock', () => prepared((db: Kysely<Schema>) => db.selectFrom('things').forShare())(asWriter())],
  ])('T-37 refuses to write by %s', async (_, write) => {
    await expect(write()).rejects.toThrow('only `commit`')
    expect(await names()).toEqual(['kept'])
  })

  it('reads by queries, raw SQL, streams and snapshots, even when the text resembles a write', async () => {
    const { rows } = await sql`with a as (select name as "update" from things where name <> 'delete; insert')
      select "update", replace("update", 'k', 'w') as other from a -- into`.execute(opened.db)
    expect(rows).toEqual([{ update: 'kept', other: 'wept' }])
    const streamed: string[] = []
    for await (const { name } of opened.db.selectFrom('things').selectAll().stream()) streamed.push(name)
    expect([streamed, await names()]).toEqual([['kept'], ['kept']])
    if (database.dialect === 'sqlite') return
    const snapshot = await readSnapshot(opened.db)
    const read = () => snapshot.db.selectFrom('things').selectAll().execute()
    const before = await read()
    await writable(opened.db).deleteFrom('things').execute()
    expect([before, await read()]).toEqual([[{ name: 'kept' }], [{ name: 'kept' }]])
    await snapshot.end()
  })
})

describe('isRead', () => {
  it.each([
    ['select 1', true],
    [' (select 1) union (select 2)', true],
    ['values (1)', true],
    ['explain query plan select 1', true],
    ['explain analyze delete from a', false],
    ['select * into b from a', false],
    ['with a as (insert into b values (1) returning *) select * from a', false],
    ['select * from a for update', false],
    ["select 'it''s ; delete'", true],
    ['select "a""; delete"', true],
    ['', false],
    ['begin', false],
    ['pragma query_only = off', false],
    ['set transaction read write', false],
    ['vacuum', false],
  ])('%s: %s', (text, expected) => expect(isRead(text)).toBe(expected))
})
