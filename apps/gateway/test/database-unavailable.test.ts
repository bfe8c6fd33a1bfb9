import { openDatabase } from '@svc/database/open'
import { type KillablePostgres, startKillablePostgres } from '@svc/devnet/killable-postgres'
import { startTestGateway } from '@svc/devnet/services/gateway'
import {
  ed25519Identity,
  type Reply,
  type TestGateway,
  type TestLocker,
  testGatewayOf,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../src/db/migrations.ts'
import type { Schema } from '../src/db/schema.ts'
import { openTestSession, publicBytes } from './adapters/http/sessions/sessions.ts'
import { runCommand } from './gateway-process.ts'

let server: KillablePostgres
let instance: TestGateway
let locker: TestLocker
beforeAll(async () => {
  server = await startKillablePostgres()
  const gateway = await startTestGateway({
    DATABASE_URL: server.url,
    DATABASE_LIMITS: 'connections=4,statement_seconds=2,wait_seconds=1',
    ANCHORS: 'off',
    RUN_JOBS: 'true',
  })
  // The real time, which PostgreSQL uses too.
  instance = testGatewayOf(gateway)
  locker = await instance.locker(ed25519Identity())
})
afterAll(async () => {
  await instance?.close()
  await server?.stop()
})

type Request = () => Promise<Reply<unknown>>

/** One request of each kind that clients send. */
function requests(): Request[] {
  let count = 0
  return [
    () => instance.send('GET', `/v1/receipts/${locker.receiptId}`),
    () => locker.call(['locker:list'], 'GET', '/files'),
    () => locker.call(['locker:write'], 'POST', '/files', { filename: `f${++count}`, content_type: 'text/plain' }),
    () => locker.call(['locker:write'], 'POST', '/upload-sessions', { files: [{ filename: `s${++count}` }] }),
    () => locker.call(['locker:read'], 'GET', '/usage'),
    () => attest(),
    () => instance.send('GET', `/v1/storage/statements?receipt_id=${locker.receiptId}`),
    () => instance.send('GET', '/health/ready'),
  ]
}

const attest = (sync = true) => {
  const path = `/v1/storage/attest?receipt_id=${locker.receiptId}&sync=${sync}`
  const { receiptId } = locker
  return instance.call(locker.owner, { method: 'POST', path, ops: ['locker:attest'], receiptId })
}

/** Sends all of them repeatedly until `isOver`. */
async function keepSending(isOver: () => boolean): Promise<Reply<unknown>[]> {
  const replies: Reply<unknown>[] = []
  const clients = requests().map(async (request) => {
    while (!isOver()) replies.push(await request())
  })
  await Promise.all(clients)
  return replies
}

/** Expects each answer to succeed, or to report that the database is unavailable and when to retry. */
function expectServedOrUnavailable(replies: readonly Reply<unknown>[]): void {
  for (const { status, headers, body } of replies) {
    if (status === 200) continue
    expect([status, headers.get('retry-after')], JSON.stringify(body)).toEqual([503, expect.any(String)])
    if ('error' in (body as object)) expect(body).toMatchObject({ error: 'database_unavailable' })
  }
}

async function expectAllWork(): Promise<void> {
  for (const request of requests()) {
    await expect.poll(async () => (await request()).status).toBe(200)
  }
}

it('T-87 while PostgreSQL is killed and restarted under load, failures are 503 with Retry-After, and no acknowledged write is lost', {
  tags: ['nightly'],
}, async () => {
  await locker.put('kept', 'acknowledged')
  const session = await openTestSession(instance, locker, { files: [{ filename: 'joined' }] })
  expect((await session.raw(0, 'before ')).status).toBe(200)
  await expectAllWork()
  for (let round = 0; round < 3; round++) {
    let isOver = false
    const sending = keepSending(() => isOver)
    server.kill()
    await expect.poll(async () => (await instance.send('GET', '/health/ready')).status, { interval: 20 }).toBe(503)
    expect((await instance.send('GET', `/v1/receipts/${locker.receiptId}`)).status).toBe(503)
    await server.start()
    await expect.poll(async () => (await instance.send('GET', '/health/ready')).status, { interval: 20 }).toBe(200)
    isOver = true
    const replies = await sending
    expectServedOrUnavailable(replies)
    expect(replies.some(({ status }) => status === 503)).toBe(true)
  }
  await expectAllWork()
  expect((await session.raw(1, 'after')).status).toBe(200)
  await expect.poll(async () => (await session.finalize()).body.status).toBe('complete')
  expect(String(await publicBytes(instance, locker, 'joined'))).toBe('before after')
  expect(String(await publicBytes(instance, locker, 'kept'))).toBe('acknowledged')
  await expectJobsRun()
})

/** Expects jobs to run, whose connections have to recover too. */
async function expectJobsRun(): Promise<void> {
  await locker.put('later', 'for the job')
  const { body } = await attest(false)
  expect(body).toMatchObject({ queued: true })
  const jobs = () => instance.gateway.context.queue.counts()
  await expect.poll(async () => (await jobs()).attest, { interval: 200 }).toMatchObject({ waiting: 0, running: 0 })
}

it('T-87 queries that wait for a lock, and requests that wait for a connection, end after the configured timeouts', {
  tags: ['nightly'],
}, async () => {
  const other = await openDatabase<Schema>({ url: server.url, migrations })
  const locking = await writable(other.db).startTransaction().execute()
  await sql`lock table receipts, lockers in access exclusive mode`.execute(locking)
  const read = () => instance.send('GET', `/v1/receipts/${locker.receiptId}`)
  const replies = await Promise.all([...Array.from({ length: 12 }, read), ...requests().map((request) => request())])
  await locking.rollback().execute()
  await other.close()
  expectServedOrUnavailable(replies)
  expect(replies.filter(({ status }) => status === 503).length).toBeGreaterThan(12)
  await expectAllWork()
})

it('T-87 a gateway without a database reports it in one line, without the password', async () => {
  const env = { SVC_MODE: 'development', DATA_DIR: instance.gateway.context.config.dataDir }
  const DATABASE_URL = 'postgres://svc:secret@127.0.0.1:1/svc'
  const { code, stderr } = await runCommand(['start'], { ...env, DATABASE_URL, PROCESSES: '1' })
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/^Cannot start: the database does not answer: .*ECONNREFUSED.*\n$/),
  ])
  expect(stderr).not.toContain('secret')
})
