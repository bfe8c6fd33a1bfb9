// Applying every migration of the gateway costs more than most tests that need a fresh database. They get a copy of one
// to which this process has applied them before.

import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { dialectNameOf } from '@svc/database/dialects'
import type { Migrations } from '@svc/database/migrate'
import { openDatabase } from '@svc/database/open'
import { createPostgresDialect } from '@svc/database/postgres'
import { sqlitePath } from '@svc/database/server-identity'
import { Kysely, sql } from 'kysely'
import { type PostgresServer, sharedPostgresAt } from './postgres-server.ts'

/** By URL: gateways that start together on one database wait for the same copy. */
const copies = new Map<string, Promise<void>>()

/** Applies the migrations to an empty database. Leaves any other unchanged, for `openDatabase` to migrate. */
export async function migrateByCopy(url: string, migrations: Migrations): Promise<void> {
  const earlier = copies.get(url)
  const copy = earlier ?? (dialectNameOf(url) === 'sqlite' ? copySqlite : copyPostgres)(url, migrations)
  copies.set(url, copy)
  await copy
  // On SQLite, two callers that continue in lockstep would wait for each other's transaction and block the process.
  if (earlier !== undefined) await setImmediate()
}

const sqliteFiles = new Map<Migrations, Promise<Buffer>>()

async function copySqlite(url: string, migrations: Migrations): Promise<void> {
  const path = sqlitePath(url)
  if (existsSync(path) || !existsSync(dirname(path))) return
  const file = sqliteFiles.get(migrations) ?? makeSqliteFile(migrations)
  sqliteFiles.set(migrations, file)
  await writeFile(path, await file, { flag: 'wx' })
}

async function makeSqliteFile(migrations: Migrations): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-sqlite-'))
  const path = join(folder, 'migrated.db')
  try {
    const { close } = await openDatabase({ url: `sqlite:${path}`, migrations })
    await close()
    return await readFile(path)
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Names of databases that nothing is connected to. */
const postgresTemplates = new Map<Migrations, Promise<string>>()

async function copyPostgres(url: string, migrations: Migrations): Promise<void> {
  const server = await sharedPostgresAt(url)
  if (!server || !(await isEmpty(url))) return
  const template = postgresTemplates.get(migrations) ?? makePostgresTemplate(server, migrations)
  postgresTemplates.set(migrations, template)
  const name = new URL(url).pathname.slice(1)
  await server.execute(`drop database ${name} with (force)`)
  await server.execute(`create database ${name} template ${await template} strategy file_copy`)
}

async function makePostgresTemplate(server: PostgresServer, migrations: Migrations): Promise<string> {
  const name = `migrated_${randomUUID().replaceAll('-', '')}`
  await server.execute(`create database ${name} strategy file_copy`)
  const { close } = await openDatabase({ url: server.urlOf(name), migrations })
  await close()
  return name
}

async function isEmpty(url: string): Promise<boolean> {
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(url, { connections: 1 }) })
  try {
    const { rows } = await sql`select from pg_class where relnamespace = 'public'::regnamespace limit 1`.execute(db)
    return rows.length === 0
  } finally {
    await db.destroy()
  }
}
