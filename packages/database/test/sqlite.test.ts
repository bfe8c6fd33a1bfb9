import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase } from '../src/open.ts'

describe('the SQLite driver', () => {
  let fresh: FreshDatabase
  let database: Database<unknown>
  let db: Kysely<unknown>
  beforeAll(async () => {
    fresh = await createFreshDatabase('sqlite')
    database = await openDatabase({ url: fresh.url, migrations: {} })
    db = writable(database.db)
    await sql`create table parent (id integer primary key)`.execute(db)
    await sql`create table child (parent integer references parent deferrable initially deferred)`.execute(db)
  })
  afterAll(async () => {
    await database.close()
    await fresh.drop()
  })

  async function pragma(name: string): Promise<unknown> {
    const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)
    return Object.values(rows[0]!)[0]
  }

  it('uses a write-ahead log, flushes at every commit, checks foreign keys and waits for other processes', async () => {
    expect(await pragma('journal_mode')).toBe('wal')
    expect(await pragma('synchronous')).toBe(2)
    expect(await pragma('foreign_keys')).toBe(1)
    expect(await pragma('busy_timeout')).toBe(5000)
  })

  it('binds whole numbers as integers', async () => {
    const { rows } = await sql`select typeof(${1}) as whole, typeof(${1.5}) as half, json_array(${7}) as json`.execute(
      db,
    )
    expect(rows).toEqual([{ whole: 'integer', half: 'real', json: '[7]' }])
  })

  it.each([[true], [new Date()], [undefined], [{ a: 1 }]])('refuses to bind %o', async (value) => {
    await expect(sql`select ${value} as value`.execute(db)).rejects.toThrow(TypeError)
  })

  it('keeps working after a commit that failed', async () => {
    const orphan = db.transaction().execute((trx) => sql`insert into child values (1)`.execute(trx))
    await expect(orphan).rejects.toThrow('FOREIGN KEY')
    await db.transaction().execute((trx) => sql`insert into parent values (1)`.execute(trx))
    const { rows } =
      await sql`select (select count(*) from child) as children, (select count(*) from parent) as parents`.execute(db)
    expect(rows).toEqual([{ children: 0, parents: 1 }])
  })
})
