// `npm run check` finds code that writes without `database.commit`.

import { expect, it } from 'vitest'
import { findWrites } from '../../../../scripts/writes.ts'

const ORDINARY_FILE = 'apps/gateway/src/files/store.ts'
const CHUNKS = 'apps/gateway/src/evidence/snapshots/chunk-store.ts'
const foundIn = (file: string, text: string) => findWrites([{ file, text }])

it.each([
  "import { Kysely } from 'kysely'",
  "import { Kysely as Reader, sql } from 'kysely'",
  "import {\n  type Transaction,\n  Kysely,\n} from 'kysely'",
  "import * as everything from 'kysely'",
  "import { PostgresDialect } from 'kysely'",
  "const { Kysely: Other } = await import('kysely')",
  "import { DatabaseSync } from 'node:sqlite'",
  "import { DatabaseSync as Other } from 'node:sqlite'",
  "const sqlite = require('node:sqlite')",
  "import pg from 'pg'",
  "import { Pool as Swimming } from 'pg'",
  "import { PgBoss } from 'pg-boss'",
  "import { openSqliteExclusively } from '@svc/database/sqlite-file'",
  "import { createPostgresDialect as open } from '@svc/database/postgres'",
  "import { writerOf } from '@svc/database/reader'",
  "import { type Commit, createCommit as make } from '@svc/database/commit'",
])('T-37 a database opened by %j is found', (text) => {
  expect(foundIn(ORDINARY_FILE, text)).toEqual([expect.stringMatching(/store\.ts:1: .* opens a database$/)])
})

it.each([
  'db as Tx',
  'db as unknown as Tx',
  'db as GuardTx',
  'db as Kysely<Schema>',
  'db as never as Transaction<Schema>',
])('T-37 a reader passed off by "%s" is found', (text) =>
  expect(foundIn(ORDINARY_FILE, `\nremove(${text})`)).toEqual([expect.stringContaining('store.ts:2:')]),
)

it.each(['whole.transaction().execute(work)', 'await whole.startTransaction().execute()'])(
  'T-37 a transaction by "%s" is found',
  (text) => expect(foundIn(ORDINARY_FILE, text)).toHaveLength(1),
)

it.each(['commit(work, { whileBehind: true })', 'const options = { whileBehind }', 'commit(work, WHILE_BEHIND)'])(
  'T-37 a commit while behind by "%s" is found where no reason is listed',
  (text) => {
    expect(foundIn(ORDINARY_FILE, text)).toEqual([expect.stringContaining('while the database may be behind')])
    expect(foundIn('packages/service/src/guard/nonces.ts', text)).toEqual([])
  },
)

it.each([
  "database.prepare('delete from files where true')",
  'database.exec(`update files set x = 1`)',
  "tx.deleteFrom('files')",
])('T-37 code that may write chunks may not write by "%s"', (text) => {
  expect(foundIn(CHUNKS, text)).toEqual([expect.stringContaining('writes past database.commit')])
  expect(foundIn(CHUNKS, "database.prepare('insert into snapshot_chunks (chunk_id) values (?)')")).toEqual([])
})

it('types, comments, other names and reads are not', () => {
  const text = `
    import type { DatabaseSync } from 'node:sqlite'
    import type { Kysely } from 'kysely'
    import { type Kysely, sql, type Transaction } from 'kysely'
    import { groupWrites } from '@svc/database/commit'
    /** As \`whileBehind\` says; see .transaction( */
    // db as Tx
    const served = { whileBehind: 'served' }
    chain.transactions(of)
    return WHILE_CURRENT`
  expect(foundIn(ORDINARY_FILE, text)).toEqual([])
})
