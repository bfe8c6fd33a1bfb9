import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createPostgresDialect } from '@svc/database/postgres'
import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openTestSession, publicBytes } from '../adapters/http/sessions/sessions.ts'
import { runCommand } from '../gateway-process.ts'

const REAL_TIME = { now: Date.now, advance: () => {} }

let folder: string
let target: FreshDatabase
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-move-'))
  target = await createFreshDatabase('postgres')
})
afterEach(async () => {
  await target.drop()
  await rm(folder, { recursive: true, force: true })
})

async function openInstance(variables: Record<string, string> = {}): Promise<TestGateway> {
  const own = { DATA_DIR: folder, BASE_URL: 'https://gateway.example', ANCHORS: 'off' }
  return openTestGateway({ ...own, ...variables }, { clock: REAL_TIME })
}

const move = (url: string) =>
  runCommand(['migrate-to-postgres'], { SVC_MODE: 'development', DATA_DIR: folder, TARGET_DATABASE_URL: url })

async function inTarget<T>(work: (db: Kysely<unknown>) => Promise<T>): Promise<T> {
  const db = new Kysely<unknown>({ dialect: createPostgresDialect(target.url) })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

const tablesOfTarget = () =>
  inTarget(async (db) => {
    const found = await sql`select table_name from information_schema.tables where table_schema = 'public'`.execute(db)
    return found.rows.length
  })

function changeSource(statement: string): void {
  const source = new DatabaseSync(join(folder, 'gateway.db'))
  source.exec(statement)
  source.close()
}

interface Statement {
  sequence: number
  statement_digest: string
  prev_statement_digest: string | null
}

/** Everything about a locker that must not change. */
async function snapshot(instance: TestGateway, { receiptId, lockerId, owner }: TestLocker) {
  const get = async (path: string) => (await instance.send('GET', path)).body
  const { body: files } = await instance.call(owner, {
    path: `/v1/lockers/${lockerId}/files`,
    ops: ['locker:list'],
    receiptId,
    lockerId,
  })
  return {
    files,
    receipt: await get(`/v1/receipts/${receiptId}`),
    verified: await get(`/v1/receipts/${receiptId}/verify`),
    statements: await get(`/v1/storage/statements?receipt_id=${receiptId}`),
    bundle: await get(`/v1/storage/evidence-bundle?receipt_id=${receiptId}`),
    keys: await get('/v1/keys'),
  }
}

const attest = (instance: TestGateway, { owner, receiptId }: TestLocker, sync: boolean) =>
  instance.call<{ job_id: string }>(owner, {
    method: 'POST',
    path: `/v1/storage/attest?receipt_id=${receiptId}&sync=${sync}`,
    ops: ['locker:attest'],
    receiptId,
  })

it('ADD-30 a deployment on SQLite continues on PostgreSQL with its receipts, links, statements, sessions, nonces and jobs', {
  tags: ['nightly'],
}, async () => {
  const before = await openInstance()
  const locker = await before.locker(ed25519Identity())
  await locker.put('a.txt', 'stays')
  expect((await attest(before, locker, true)).status).toBe(200)
  const session = await openTestSession(before, locker, { files: [{ filename: 'joined' }] })
  expect((await session.raw(0, 'before ')).status).toBe(200)
  const { queue, database } = before.gateway.context
  const failing = { receipt_id: `rcpt_${'0'.repeat(32)}` }
  await writable(database.db)
    .transaction()
    .execute((tx) => queue.enqueue(tx, 'attest', failing))
  await queue.drain()
  const dead = await queue.deadLetters()
  expect(dead).toHaveLength(1)
  const later = await writable(database.db)
    .transaction()
    .execute((tx) => queue.enqueue(tx, 'push', { receipt_id: locker.receiptId }, { delaySeconds: 3600 }))
  await locker.put('b.txt', 'is attested by the job')
  const waiting = (await attest(before, locker, false)).body.job_id
  const usedPath = `/v1/lockers/${locker.lockerId}/files`
  const { receiptId, lockerId } = locker
  const used = before.sign(locker.owner, { path: usedPath, ops: ['locker:list'], receiptId, lockerId })
  expect((await before.send('GET', usedPath, undefined, used.headers)).status).toBe(200)
  const expected = await snapshot(before, locker)

  await before.close()
  // As in a database that release 1.1.0 created.
  changeSource(`insert into schema_migrations (name) values ('0001-signing-keys')`)

  const moved = await move(target.url)
  expect(moved.code, moved.stderr).toBe(0)
  expect(moved.stdout).toMatch(/^Moved \d+ rows of \d+ tables and 2 jobs; each table was read back and is the same\./)
  expect(moved.stderr).toContain('receipts: 1 rows')
  expect((await move(target.url)).stderr).toContain('was already moved')
  await expect(openInstance()).rejects.toThrow('this database was moved to PostgreSQL')

  const after = await openInstance({ DATABASE_URL: target.url })
  const instance = after.gateway.context
  expect(await snapshot(after, locker)).toEqual(expected)
  expect(String(await publicBytes(after, locker, 'a.txt'))).toBe('stays')
  expectRefusal(await after.send('GET', usedPath, undefined, used.headers), 403, 'NONCE_REPLAYED')
  expect(await instance.queue.deadLetters()).toEqual(dead)
  expect(await instance.queue.find(later!)).toMatchObject({ kind: 'push', state: 'delayed' })
  expect(await instance.queue.find(waiting)).toMatchObject({ kind: 'attest', state: 'waiting' })
  await instance.queue.drain()

  const continued = session.at(after)
  expect((await continued.raw(1, 'and after')).status).toBe(200)
  expect((await continued.finalize()).body.status).toBe('complete')
  expect(String(await publicBytes(after, locker, 'joined'))).toBe('before and after')
  expect((await attest(after, locker, true)).status).toBe(200)
  const { statements } = (await snapshot(after, locker)).statements as unknown as { statements: Statement[] }
  const inOrder = statements.toSorted((a, b) => a.sequence - b.sequence)
  expect(inOrder.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  expect(inOrder[1]?.prev_statement_digest).toBe(inOrder[0]?.statement_digest)
  expect(inOrder[2]?.prev_statement_digest).toBe(inOrder[1]?.statement_digest)
  // The triggers work on PostgreSQL.
  const another = await after.locker(ed25519Identity())
  const uncounted = await instance.database.db.selectFrom('uncounted_receipts').select('receipt_id').execute()
  expect(uncounted.map(({ receipt_id }) => receipt_id)).toContain(another.receiptId)
  await after.close()
})

it('ADD-30 the migration refuses a source in use, data that PostgreSQL cannot store, a target that is not empty, and URLs of the wrong kind', async () => {
  const instance = await openInstance()
  await instance.locker(ed25519Identity())
  const running = await move(target.url)
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('is in use: stop every process')])
  await instance.close()
  // Data that PostgreSQL cannot store fails the whole migration.
  changeSource(`update lockers set tags = '["' || char(0) || '"]'`)
  expect((await move(target.url)).code).toBe(1)
  expect(await tablesOfTarget()).toBe(0)
  await inTarget((db) => sql`create table something (a text)`.execute(db))
  const filled = await move(target.url)
  expect([filled.code, filled.stdout]).toEqual([1, ''])
  expect(filled.stderr).toContain('the PostgreSQL database is not empty (it has the tables something')
  expect((await move('mysql://x')).stderr).toContain('TARGET_DATABASE_URL must be')
  const nowhere = { SVC_MODE: 'development', DATA_DIR: join(folder, 'none'), TARGET_DATABASE_URL: target.url }
  expect((await runCommand(['migrate-to-postgres'], nowhere)).stderr).toContain('there is no SQLite file')
})
