import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import type { ColumnTypes } from '@svc/database/dialects'
import type { Migrations } from '@svc/database/migrate'
import { openDatabase } from '@svc/database/open'
import { type Kysely, sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createFreshDatabase, forEachDatabase } from '../src/databases.ts'
import { startKillablePostgres } from '../src/killable-postgres.ts'
import { migrateByCopy } from '../src/migrate-by-copy.ts'
import { startProcess } from '../src/start-process.ts'

for (const block of ['one block', 'another block']) {
  forEachDatabase(block, (database) => {
    it('has its own empty database', async () => {
      const { db, dialect } = await database.open({})
      expect(dialect).toBe(database.dialect)
      await sql`create table of_one_block_only (a text)`.execute(db)
    })
  })
}

describe.each(['sqlite', 'postgres'] as const)('a fresh database (%s)', (dialect) => {
  it('can be opened twice and does not exist after it is dropped', async () => {
    const { url, drop } = await createFreshDatabase(dialect)
    const databases = [await openDatabase({ url, migrations: {} }), await openDatabase({ url, migrations: {} })]
    for (const { close } of databases) await close()
    await drop()
    await expect(openDatabase({ url, migrations: {} })).rejects.toThrow()
  })

  it('is migrated by a copy, also when several start at once, and left alone when it has tables', async () => {
    const [fresh, other] = [await createFreshDatabase(dialect), await createFreshDatabase(dialect)]
    onTestFinished(fresh.drop)
    onTestFinished(other.drop)
    let applied = 0
    const migrations: Migrations = {
      '0001-commits': async (db, column) => {
        applied++
        await createCommits(db, column)
      },
    }
    const addOne = async (url: string) => {
      await migrateByCopy(url, migrations)
      const { db, close } = await openDatabase<Schema>({ url, migrations })
      await db.insertInto('commits').values({ at: 1 }).execute()
      const { length } = await db.selectFrom('commits').selectAll().execute()
      await close()
      return length
    }
    expect(await addOne(fresh.url)).toBe(1)
    await Promise.all([addOne(other.url), addOne(other.url)])
    expect(await addOne(other.url)).toBe(3)
    expect(applied).toBe(1)

    const { url, drop } = await createFreshDatabase(dialect)
    onTestFinished(drop)
    const { db, close } = await openDatabase({ url, migrations: {} })
    await sql`create table of_before (a text)`.execute(db)
    await close()
    expect(await addOne(url)).toBe(1)
    expect(applied).toBe(2)
  })
})

describe('the PostgreSQL server', () => {
  it('is shared by the whole process, and orders text by language unless a query sets a collation', async () => {
    const [one, other] = [await createFreshDatabase('postgres'), await createFreshDatabase('postgres')]
    expect(new URL(other.url).port).toBe(new URL(one.url).port)
    onTestFinished(one.drop)
    onTestFinished(other.drop)
    const { db, close } = await openDatabase({ url: one.url, migrations: {} })
    const words = sql`(values ('B'), ('a'), ('b'), ('A')) as words (word)`
    const { rows } = await sql`select string_agg(word, '' order by word) as ordered from ${words}`.execute(db)
    expect(rows).toEqual([{ ordered: 'aAbB' }])
    await close()
  })

  it('stops and leaves no folder when the process that started it is killed', { tags: ['nightly'] }, async () => {
    const program = `
      import { createFreshDatabase } from ${JSON.stringify(new URL('../src/databases.ts', import.meta.url))}
      const { url } = await createFreshDatabase('postgres')
      console.log(url)
      setInterval(() => {}, 1000)`
    const owner = startProcess(process.execPath, { args: ['--input-type=module', '--eval', program] })
    const url = new URL((await owner.said(/postgres:\S+/))[0])
    const { db, close } = await openDatabase({ url: url.href, migrations: {} })
    const { rows } = await sql<{ folder: string }>`select current_setting('data_directory') as folder`.execute(db)
    await close()
    const folder = dirname(rows[0]!.folder)
    expect(existsSync(folder)).toBe(true)

    const connection = connect(Number(url.port), url.hostname)
    await once(connection, 'connect')
    void owner.kill()
    await once(connection.resume(), 'close')
    await expect.poll(() => existsSync(folder)).toBe(false)
  })
})

describe('a PostgreSQL that can be killed', () => {
  it('has what it committed after each kill, and is gone with its data after its stop', {
    tags: ['nightly'],
  }, async () => {
    const server = await startKillablePostgres()
    const count = async () => {
      const { db, close } = await openDatabase<Schema>({ url: server.url, migrations: COMMITS })
      await db.insertInto('commits').values({ at: 1 }).execute()
      const { length } = await db.selectFrom('commits').selectAll().execute()
      await close()
      return length
    }
    expect(await count()).toBe(1)
    for (const before of [1, 2]) {
      server.kill()
      await server.start()
      expect(await count()).toBe(before + 1)
    }
    await server.stop()
    await expect(openDatabase({ url: server.url, migrations: {} })).rejects.toThrow()
  })
})

interface Schema {
  commits: { at: number }
}

async function createCommits(db: Kysely<unknown>, column: ColumnTypes): Promise<void> {
  await db.schema
    .createTable('commits')
    .addColumn('at', column.integer, (c) => c.notNull())
    .execute()
}

const COMMITS: Migrations = { '0001-commits': createCommits }
