import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DialectName } from '@svc/database/dialects'
import type { Migrations } from '@svc/database/migrate'
import { type Database, openDatabase } from '@svc/database/open'
import { afterAll, beforeAll, describe } from 'vitest'
import { migrateByCopy } from './migrate-by-copy.ts'
import { sharedPostgres } from './postgres-server.ts'

export interface FreshDatabase {
  url: string
  drop(): Promise<void>
}

export interface TestDatabase {
  readonly dialect: DialectName
  /** The URL of a database that only this describe block uses. It exists from `beforeAll` on. */
  readonly url: string
  /** Closed after the block. */
  open<Schema>(migrations: Migrations): Promise<Database<Schema>>
  /** Like `open`, for tests that are not about migrations: an empty database gets a migrated copy. */
  openMigrated<Schema>(migrations: Migrations): Promise<Database<Schema>>
}

/** Describes the same tests on SQLite and, at night, on a real PostgreSQL. */
export function forEachDatabase(name: string, tests: (database: TestDatabase) => void): void {
  describeOn('sqlite', name, [], tests)
  describeOn('postgres', name, ['nightly'], tests)
}

/** Like `forEachDatabase`, for what differs between databases (statements, locks, races): the gate runs both. */
export function forEachDatabaseInGate(name: string, tests: (database: TestDatabase) => void): void {
  describeOn('sqlite', name, [], tests)
  describeOn('postgres', name, [], tests)
}

function describeOn(dialect: DialectName, name: string, tags: string[], tests: (database: TestDatabase) => void): void {
  describe(`${name} (${dialect})`, { tags }, () => {
    let fresh: FreshDatabase | undefined
    const opened: { close(): Promise<void> }[] = []
    beforeAll(async () => {
      fresh = await createFreshDatabase(dialect)
    })
    afterAll(async () => {
      for (const { close } of opened) await close()
      await fresh?.drop()
    })
    const database: TestDatabase = {
      dialect,
      get url() {
        if (!fresh) throw new Error('the database exists only after beforeAll')
        return fresh.url
      },
      async open<Schema>(migrations: Migrations) {
        const open = await openDatabase<Schema>({ url: database.url, migrations })
        opened.push(open)
        return open
      },
      async openMigrated(migrations) {
        await migrateByCopy(database.url, migrations)
        return database.open(migrations)
      },
    }
    tests(database)
  })
}

export function createFreshDatabase(dialect: DialectName): Promise<FreshDatabase> {
  return dialect === 'sqlite' ? createSqliteDatabase() : createPostgresDatabase()
}

async function createSqliteDatabase(): Promise<FreshDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sqlite-'))
  return { url: `sqlite:${join(folder, 'test.db')}`, drop: () => rm(folder, { recursive: true }) }
}

async function createPostgresDatabase(): Promise<FreshDatabase> {
  const server = await sharedPostgres()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await server.execute(`create database ${name} strategy file_copy`)
  return { url: server.urlOf(name), drop: () => server.execute(`drop database ${name} with (force)`) }
}
