import { createFreshDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Migration, Migrations } from '../src/migrate.ts'
import { openDatabase } from '../src/open.ts'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

const nothing = async () => {}

forEachDatabaseInGate('migrations', (database) => {
  it('ADD-31 run once each in the order of their names, and fail on the database of another service', async () => {
    const order: string[] = []
    const note = (name: string) => async () => void order.push(name)
    await database.open({ '0002-b': note('b'), '0001-a': note('a') })
    await database.open({ '0001-a': note('a'), '0002-b': note('b'), '0010-c': note('c') })
    expect(order).toEqual(['a', 'b', 'c'])
    await expect(database.open({ '0001-other': nothing })).rejects.toThrow(
      'does not know (0001-a, 0002-b, 0010-c), and lacks some that it has',
    )
  })
})

forEachDatabaseInGate('a release', (database) => {
  const first: Migrations = {
    '0001-users': async (db, column) => {
      await db.schema.createTable('users').addColumn('name', column.text).execute()
    },
  }
  const second: Migrations = {
    ...first,
    '0002-given-names': async (db, column) => {
      await db.schema.alterTable('users').addColumn('given_name', column.text).execute()
    },
  }
  const third: Migrations = {
    ...second,
    '0003-drop-names': {
      needs: '0002-given-names',
      contract: async (db) => void (await db.schema.alterTable('users').dropColumn('name').execute()),
    },
  }

  it('ADD-31 starts beside a newer release until a contraction excludes it, and then names the migration that it lacks', async () => {
    type Users = { users: { name: string; given_name?: string } }
    const old = await database.open<Users>(first)
    const next = await database.open<Users>(second)
    await writable(old.db).insertInto('users').values({ name: 'a' }).execute()
    await writable(next.db).insertInto('users').values({ name: 'b', given_name: 'b' }).execute()
    const restarted = await database.open<Users>(first)
    await writable(restarted.db).insertInto('users').values({ name: 'c' }).execute()
    expect(await next.db.selectFrom('users').select('name').execute()).toHaveLength(3)
    await database.open(third)
    await database.open(second)
    await expect(database.open(first)).rejects.toThrow(
      'removed what this one uses (0003-drop-names): run a release that has the migration 0002-given-names',
    )
  })

  it('ADD-31 cannot start when its contraction needs a migration that is not before it', async () => {
    const wrong = { ...third, '0004-wrong': { needs: '0005-later', contract: nothing } }
    await expect(database.open(wrong)).rejects.toThrow('0004-wrong needs 0005-later')
  })
})

forEachDatabaseInGate('a baseline', (database) => {
  const reduced: Migrations = {
    '0002-b': {
      release: '1.1.0',
      first: '0001-a',
      create: async (db, column) => void (await db.schema.createTable('b').addColumn('b', column.text).execute()),
    },
    '0003-c': nothing,
  }

  it('ADD-31 rejects an older database without changing it, and is applied to an empty one only', async () => {
    const { db } = await database.open<{ schema_migrations: { name: string } }>({ '0001-a': nothing })
    const names = async () =>
      (await db.selectFrom('schema_migrations').select('name').orderBy('name').execute()).map(({ name }) => name)
    await expect(database.open(reduced)).rejects.toThrow(
      'older than release 1.1.0: start release 1.1.0 on it once, then start this release',
    )
    expect(await names()).toEqual(['0001-a'])
    await database.open({ '0001-a': nothing, '0002-b': nothing })
    await database.open(reduced)
    expect(await names()).toEqual(['0001-a', '0002-b', '0003-c'])
    // The previous release may keep running beside it.
    await database.open({ '0001-a': nothing, '0002-b': nothing })
    await writable(db).deleteFrom('schema_migrations').execute()
    await database.open(reduced)
    await expect(sql`select * from b`.execute(db)).resolves.toMatchObject({ rows: [] })
    await expect(database.open({ '0005-z': { release: '1.1.0', first: '0004-y', create: nothing } })).rejects.toThrow(
      'it belongs to another service',
    )
  })
})

forEachDatabaseInGate('a database of a release that kept only names', (database) => {
  it('ADD-31 gets the column `needs`', async () => {
    const { db } = await database.open<{ schema_migrations: { name: string; needs: string | null } }>({
      '0001-a': nothing,
    })
    await sql`alter table schema_migrations drop column needs`.execute(writable(db))
    await database.open({ '0001-a': nothing, '0002-b': { needs: '0001-a', contract: nothing } })
    expect(await db.selectFrom('schema_migrations').selectAll().orderBy('name').execute()).toEqual([
      { name: '0001-a', needs: null },
      { name: '0002-b', needs: '0001-a' },
    ])
  })
})

forEachDatabaseInGate('a failing migration', (database) => {
  it('leaves no changes, and the database opens once the migration is fixed', async () => {
    const failing = async () => {
      throw new Error('no such column')
    }
    await expect(database.open({ ...journalMigrations, '0004-broken': failing })).rejects.toThrow('no such column')
    const { db } = await database.open<JournalSchema>(journalMigrations)
    const journal = await db.selectFrom('journal').select('entry').execute()
    expect(journal.map(({ entry }) => entry)).toEqual(Object.keys(journalMigrations))
  })
})

describe('a migration of a table in use, on PostgreSQL', () => {
  const addColumn =
    (...tables: string[]): Migration =>
    async (trx, column) => {
      for (const table of tables) await trx.schema.alterTable(table).addColumn('more', column.text).execute()
    }

  async function openJournal() {
    const { url, drop } = await createFreshDatabase('postgres')
    onTestFinished(drop)
    const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
    onTestFinished(close)
    const isWaiting = async () => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%journal%'`.execute(db)
      return (rows[0]?.count ?? 0) > 0
    }
    return {
      db,
      migrate: (change: Migration) => openDatabase({ url, migrations: { ...journalMigrations, '0004-more': change } }),
      untilWaiting: () => expect.poll(isWaiting, { interval: 20 }).toBe(true),
    }
  }

  it('ADD-31 waits for the query that uses the table, without blocking other queries', {
    tags: ['nightly'],
  }, async () => {
    const { db, migrate, untilWaiting } = await openJournal()
    const reading = await writable(db).startTransaction().execute()
    await reading.selectFrom('journal').selectAll().execute()
    const migrating = migrate(addColumn('journal'))
    await untilWaiting()
    expect(await db.selectFrom('journal').selectAll().execute()).toHaveLength(3)
    await reading.commit().execute()
    await (await migrating).close()
  })

  it('ADD-31 yields to a query that would deadlock with it', { tags: ['nightly'] }, async () => {
    const { db, migrate, untilWaiting } = await openJournal()
    await writable(db).schema.createTable('notes').addColumn('note', 'text').execute()
    const reading = await writable(db).startTransaction().execute()
    await reading.selectFrom('journal').selectAll().execute()
    const migrating = migrate(addColumn('notes', 'journal'))
    await untilWaiting()
    await sql`select * from notes`.execute(reading)
    await reading.commit().execute()
    await (await migrating).close()
  })
})
