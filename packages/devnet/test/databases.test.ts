import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import type { Migrations } from '@svc/database/migrate'
import { openDatabase } from '@svc/database/open'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { createFreshDatabase } from '../src/databases.ts'
import { migrateByCopy } from '../src/migrate-by-copy.ts'
import { startProcess } from '../src/start-process.ts'
import { writable } from '../src/writable.ts'

it.each(['sqlite', 'postgres'] as const)(
  'a fresh database (%s) is migrated by a copy, even when several gateways start together, and left alone when it has tables',
  async (dialect) => {
    let applied = 0
    const migrations: Migrations = {
      '0001-commits': async (db, column) => {
        applied++
        await db.schema.createTable('commits').addColumn('at', column.integer).execute()
      },
    }
    const create = async () => {
      const { url, drop } = await createFreshDatabase(dialect)
      onTestFinished(drop)
      return url
    }
    const addOne = async (url: string) => {
      await migrateByCopy(url, migrations)
      const { db, close } = await openDatabase<{ commits: { at: number } }>({ url, migrations })
      await writable(db).insertInto('commits').values({ at: 1 }).execute()
      const { length } = await db.selectFrom('commits').selectAll().execute()
      await close()
      return length
    }
    expect(await addOne(await create())).toBe(1)
    const shared = await create()
    await Promise.all([addOne(shared), addOne(shared)])
    expect(await addOne(shared)).toBe(3)
    expect(applied).toBe(1)

    const used = await create()
    const { db, close } = await openDatabase({ url: used, migrations: {} })
    await sql`create table existing (a text)`.execute(writable(db))
    await close()
    expect(await addOne(used)).toBe(1)
    expect(applied).toBe(2)
  },
)

it('PostgreSQL stops and leaves no folder when the process that started it is killed', {
  tags: ['nightly'],
}, async () => {
  const program = `
    import { createFreshDatabase } from ${JSON.stringify(new URL('../src/databases.ts', import.meta.url))}
    const { url } = await createFreshDatabase('postgres')
    console.log(url)
    setInterval(() => {}, 1000)`
  const owner = startProcess(process.execPath, { args: ['--input-type=module', '--eval', program] })
  const url = new URL((await owner.waitForLine(/postgres:\S+/))[0])
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
