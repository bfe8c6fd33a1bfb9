// A gateway continues with what release 1.1.0 left behind: its database, its journal and its data folder.

import { appendFile, cp, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Reader } from '@svc/database/open'
import { migrations } from '@svc/gateway/db/migrations'
import { readPinnedKeys } from '@svc/verifier/pinned-keys'
import { verifyBundle } from '@svc/verifier/verify-bundle'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { testClock } from '../../src/clock.ts'
import { createFreshDatabase } from '../../src/databases.ts'
import { forAllTests } from '../../src/for-tests.ts'
import {
  ed25519Identity,
  evmIdentity,
  expectRefusal,
  openTestGateway,
  type Reply,
} from '../../src/services/test-gateway.ts'
import { writable } from '../../src/writable.ts'

const FIXTURE = new URL('./fixtures/1.1.0/', import.meta.url)

async function openData(dialect: 'sqlite' | 'postgres', unknown = '') {
  const folder = await mkdtemp(join(tmpdir(), 'svc-1.1.0-'))
  await cp(new URL(`${dialect}/state`, FIXTURE), folder, { recursive: true })
  const logbook = join(folder, 'logbook')
  // The process that wrote it is long gone.
  for (const name of await readdir(logbook)) {
    if (name.endsWith('.log')) await appendFile(join(logbook, name), unknown)
    await utimes(join(logbook, name), 0, 0)
  }
  const answers = JSON.parse(await readFile(new URL(`${dialect}/answers.json`, FIXTURE), 'utf8'))
  const database = dialect === 'postgres' ? await createFreshDatabase('postgres') : null
  if (database) {
    const { db, close } = await openDatabase({ url: database.url, migrations: {} })
    const dump = await readFile(new URL('postgres/gateway.sql', FIXTURE), 'utf8')
    // An open database has a table of its migrations, and so has the dump.
    await sql.raw(`drop table schema_migrations; ${dump}`).execute(writable(db))
    await close()
  }
  const instance = await openTestGateway(
    {
      DATA_DIR: folder,
      LOGBOOK_DIR: logbook,
      S3: 'on',
      BASE_URL: 'https://gateway.example',
      ...(database && { DATABASE_URL: database.url }),
    },
    { clock: testClock(answers.time + 31_000) },
  )
  const owner = ed25519Identity(Buffer.from(answers.owner_seed, 'hex'))
  const ids = { lockerId: answers.locker_id, receiptId: answers.receipt_id }
  return {
    instance,
    answers,
    owner,
    call: <Body>(ops: string[], method: string, path: string, body?: unknown, who = owner) =>
      instance.call<Body>(who, { method, path: `/v1/lockers/${ids.lockerId}${path}`, ops, body, ...ids }),
    fetch: (url: string, init?: RequestInit) => fetch(instance.gateway.url + new URL(url).pathname, init),
    async close() {
      await instance.close()
      await database?.drop()
      await rm(folder, { recursive: true })
    },
  }
}

function done<Body>({ status, body }: Reply<Body>): Body {
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

async function schemaOf<Schema>(db: Reader<Schema>, dialect: 'sqlite' | 'postgres') {
  const tables = await writable(db).introspection.getTables()
  const own = tables.filter(({ schema }) => schema === undefined || schema === 'public')
  const names = sql`select type, name, tbl_name from sqlite_schema where type <> 'table' order by name`
  const indexes = sql`select indexdef from pg_indexes where schemaname = 'public' order by indexname`
  const { rows } = await (dialect === 'sqlite' ? names : indexes).execute(db)
  return { tables: own.sort((a, b) => (a.name < b.name ? -1 : 1)), rows }
}

for (const dialect of ['sqlite', 'postgres'] as const)
  describe(`data of release 1.1.0 (${dialect})`, { shuffle: false }, () => {
    const data = forAllTests(() => openData(dialect))

    it('ADD-31 RCPT-01 is current, and its receipts, files and statements are served unchanged', async () => {
      const { instance, answers, call } = data
      await expect
        .poll(async () => (await instance.send<object>('GET', '/health')).body)
        .toMatchObject({ status: 'ok' })
      for (const receipt of [answers.receipt, answers.renewal]) {
        expect(done(await instance.send('GET', `/v1/receipts/${receipt.receipt_id}`))).toEqual(receipt)
        expect(done(await instance.send('GET', `/v1/receipts/${receipt.receipt_id}/verify`))).toMatchObject({
          valid: true,
        })
      }
      expect(done(await call<{ files: object[] }>(['locker:list'], 'GET', '/files')).files).toEqual(answers.files)
      const query = `receipt_id=${answers.receipt_id}`
      expect(done(await instance.send('GET', `/v1/storage/statements?${query}`))).toEqual(answers.anchored)
      const served = done(await instance.send<object>('GET', `/v1/storage/evidence-bundle?${query}`))
      const pinned = readPinnedKeys(JSON.stringify(answers.keys))
      if (!pinned.ok) throw new Error(pinned.problem)
      for (const bundle of [answers.bundle, answers.latest, served]) {
        const bytes = new TextEncoder().encode(JSON.stringify(bundle))
        expect(await verifyBundle([bytes], { pinnedKeys: pinned.keys })).toMatchObject({ refused: null, failed: [] })
      }
    })

    it('ADD-31 has the schema of a new database', async () => {
      const { url, drop } = await createFreshDatabase(dialect)
      onTestFinished(drop)
      const fresh = await openDatabase({ url, migrations })
      onTestFinished(fresh.close)
      const { db } = data.instance.gateway.context.database
      expect(await schemaOf(db, dialect)).toEqual(await schemaOf(fresh.db, dialect))
    })

    it('PAY-52 ENV-13 issues no second receipt or quote, and accepts no envelope twice', async () => {
      const { instance, answers } = data
      const { confirm, unpaid, used_envelope } = answers
      const again = await instance.confirm({ pay_req_id: confirm.pay_req_id }, confirm.tx)
      expect(again.body).toMatchObject({ receipt_id: answers.receipt_id })
      expect(await instance.quote(unpaid.order, { 'idempotency-key': unpaid.idempotency_key })).toEqual(unpaid.quote)
      expectRefusal(
        await instance.send('GET', used_envelope.path, undefined, used_envelope.headers),
        403,
        'NONCE_REPLAYED',
      )
    })

    it('SHORT-01 ADD-46 opens its URLs, and finishes its uploads', async () => {
      const { instance, answers, fetch: ask } = data
      const { download_url, upload_url, session, tus } = answers
      expect(await (await ask(download_url)).text()).toBe('one, changed')
      const type = { 'content-type': 'text/plain' }
      expect((await ask(upload_url, { method: 'PUT', headers: type, body: 'later' })).status).toBe(200)
      const path = `/v1/upload-sessions/${session.session_id}`
      const token = { 'x-upload-token': session.upload_token }
      const bytes = { ...token, 'content-type': 'application/octet-stream' }
      done(await instance.send('POST', `${path}/files/f_0001/parts?index=1`, Buffer.from('def'), bytes))
      expect(done(await instance.send('POST', `${path}/finalize`, undefined, token))).toMatchObject({
        status: 'complete',
      })
      const chunk = {
        'tus-resumable': '1.0.0',
        'x-upload-token': tus.token,
        'content-type': 'application/offset+octet-stream',
        'upload-offset': '3',
      }
      expect((await ask(tus.location, { method: 'PATCH', headers: chunk, body: 'ghi' })).status).toBe(204)
    })

    it('OPER-02 T-161 keeps granted and revoked access', async () => {
      const { instance, answers, call } = data
      const operator = ed25519Identity(Buffer.from(answers.operator_seed, 'hex'))
      const removed = ed25519Identity(Buffer.alloc(32, 8))
      expect(done(await call(['locker:read'], 'GET', '/record'))).toMatchObject({ operators: answers.record.operators })
      done(await call(['locker:list'], 'GET', '/files', undefined, operator))
      expect((await call(['locker:list'], 'GET', '/files', undefined, removed)).status).toBe(403)
      const { keys } = done(await call<{ keys: object[] }>(['locker:admin'], 'GET', '/s3/keys'))
      expect(keys).toEqual([expect.objectContaining({ access_key_id: answers.s3_key.access_key_id })])
      const { locker_id: lockerId, receipt_id: receiptId } = answers.frozen
      const path = `/v1/lockers/${lockerId}/files`
      const write = { method: 'POST', path, body: { filename: 'a' }, ops: ['locker:write'], lockerId, receiptId }
      expect((await instance.call(operator, write)).status).toBe(423)
    })

    it('EVID-11 LOG-13 signs the statement that follows the last', async () => {
      const { instance, answers, owner } = data
      const evm = evmIdentity(Buffer.from(answers.evm_key, 'hex'))
      const [, last] = answers.statements
      const due = [
        [owner, answers.receipt_id, 3, last.envelope.statement_digest],
        [evm, answers.evm.receipt_id, 2, expect.any(String)],
      ] as const
      for (const [who, receiptId, sequence, prev_statement_digest] of due) {
        const lockerId = receiptId === answers.receipt_id ? answers.locker_id : answers.evm.locker_id
        const filename = 'new.txt'
        const file = { path: `/v1/lockers/${lockerId}/files`, ops: ['locker:write'], body: { filename } }
        const made = done(
          await instance.call<{ upload_url: string }>(who, { ...file, method: 'POST', lockerId, receiptId }),
        )
        const headers = { 'content-type': 'application/octet-stream' }
        expect((await data.fetch(made.upload_url, { method: 'PUT', headers, body: 'new' })).status).toBe(200)
        done(
          await instance.send('POST', `/v1/files/confirm?${new URLSearchParams({ receipt_id: receiptId, filename })}`),
        )
        const path = `/v1/storage/attest?receipt_id=${receiptId}&sync=true`
        const attested = await instance.call<object>(who, { method: 'POST', path, ops: ['locker:attest'], receiptId })
        const body = expect.objectContaining({ sequence, prev_statement_digest })
        expect(done(attested)).toMatchObject({ attestation: { envelope: { body } } })
      }
    })
  })

it.each([
  ['statement', `statement 1763474264 ${'a'.repeat(32)} 9 ${'b'.repeat(64)}\n`],
  ['receipt', `receipt 1763474264 primary-mainnet tx ${'b'.repeat(64)} - 1763474264\n`],
  ['revocation', `revocation 1763474264 ${'a'.repeat(32)} 1763474264 {"what":"urls","locker":"a","epoch":1}\n`],
])('T-37 ADD-31 a database that lacks a %s of its journal is healed with release 1.1.0 first', async (_, line) => {
  const data = await openData('sqlite', line)
  onTestFinished(data.close)
  const { instance } = data
  await expect
    .poll(async () => (await instance.send<object>('GET', '/health')).body)
    .toMatchObject({ continuity: { state: 'behind', heal: expect.stringContaining('lacks what release 1.1.0') } })
  expectRefusal(await instance.send('POST', '/v1/storage/request', { units: 1 }), 503, 'database_behind')
})
