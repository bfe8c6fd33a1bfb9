import { Readable } from 'node:stream'
import { forEachDatabase } from '@svc/devnet/databases'
import {
  ed25519Identity,
  expectRefusal,
  openTestGateway,
  type TestGateway,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestSession } from '../adapters/http/sessions/sessions.ts'

const WRITE = ['locker:write']
const FULL = 'LOCKER_CAPACITY_EXCEEDED'
const TERMS = '{"gcs":{"storage_limit_bytes":100,"file_limit":3,"ttl_days":10}}'

let fetchedSize: number | null = 60

forEachDatabase('terms that are enforced', (database) => {
  let instance: TestGateway
  beforeAll(async () => {
    const fetchSource = async () => {
      const stream = Readable.from([Buffer.alloc(60)])
      return { stream, contentType: 'text/plain', size: fetchedSize, finalUrl: '' }
    }
    instance = await openTestGateway({ DATABASE_URL: database.url, ENFORCE_TERMS: 'true', TERMS }, { fetchSource })
  })
  afterAll(() => instance.close())

  async function uploadUrl(locker: TestLocker, filename: string): Promise<string> {
    const { status, body } = await locker.call<{ upload_url: string }>(WRITE, 'POST', '/files', {
      filename,
      content_type: 'text/plain',
    })
    expect(status, JSON.stringify(body)).toBe(200)
    return instance.gateway.url + new URL(body.upload_url).pathname
  }

  async function upload(url: string, bytes: number, isChunked = false) {
    const headers = { 'content-type': 'text/plain' }
    const chunked = { body: Readable.toWeb(Readable.from([Buffer.alloc(bytes)])), duplex: 'half' }
    const body = { body: Buffer.alloc(bytes) }
    const response = await fetch(url, { method: 'PUT', headers, ...(isChunked ? chunked : body) } as RequestInit)
    return { status: response.status, headers: response.headers, body: await response.json() }
  }

  async function fetchInto(locker: TestLocker, filename: string) {
    return instance.call(locker.owner, {
      method: 'POST',
      path: '/v1/files/fetch-and-store',
      body: { source_url: 'https://files.example.test/e.txt', filename },
      ops: WRITE,
      lockerId: locker.lockerId,
      receiptId: locker.receiptId,
    })
  }

  const record = async (locker: TestLocker) =>
    (await locker.call<{ file_count: number; total_bytes: number }>(['locker:read'], 'GET', '/record')).body

  it('T-56 LOCK-15 bytes beyond the bought space are refused by every protocol, and stored files stay', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a', 'x'.repeat(50))
    const url = await uploadUrl(locker, 'b')
    for (const isChunked of [false, true]) {
      const refused = await upload(url, 51, isChunked)
      expectRefusal(refused, 507, FULL)
      expect(refused.body).toMatchObject({ hint: expect.stringContaining('svc renew'), details: { reason: 'bytes' } })
      expect(JSON.stringify(refused.body)).not.toContain(locker.receiptId)
    }
    for (const size of [60, null]) {
      fetchedSize = size
      expectRefusal(await fetchInto(locker, 'b'), 507, FULL)
    }
    const tooLarge = { files: [{ filename: 'b', size_bytes: 51 }] }
    expectRefusal(await locker.call(WRITE, 'POST', '/upload-sessions', tooLarge), 507, FULL)
    const session = await openTestSession(instance, locker, { files: [{ filename: 'b' }, { filename: 'c' }] })
    await session.raw(0, 'x'.repeat(51))
    expectRefusal(await session.raw(1, 'x'), 507, FULL)
    await session.raw(0, 'x'.repeat(10), { file: 1 })
    // The file that fits is stored; the other one waits for more space.
    expectRefusal(await session.finalize(), 507, FULL)
    expect((await session.status()).body.status).toBe('partial')
    expect(await record(locker)).toMatchObject({ file_count: 3, total_bytes: 60 })
    expect((await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/a`)).status).toBe(200)
    expect((await locker.call(WRITE, 'DELETE', '/files/a')).status).toBe(200)
    expect((await session.finalize()).body).toMatchObject({ status: 'complete' })
    expect(await record(locker)).toMatchObject({ file_count: 2, total_bytes: 61 })
    expect(await instance.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  })

  it('T-56 more files than were bought are refused, in batches too, and existing names can be replaced', async () => {
    const locker = await instance.locker(ed25519Identity())
    const files = ['a', 'b', 'c', 'd'].map((filename) => ({ filename }))
    expectRefusal(await locker.call(WRITE, 'POST', '/files/batch', { files }), 507, FULL)
    expect((await record(locker)).file_count).toBe(0)
    expect((await locker.call(WRITE, 'POST', '/files/batch', { files: files.slice(0, 3) })).status).toBe(200)
    expectRefusal(await locker.call(WRITE, 'POST', '/files', { filename: 'd' }), 507, FULL)
    expectRefusal(await fetchInto(locker, 'd'), 507, FULL)
    expectRefusal(await locker.call(WRITE, 'POST', '/upload-sessions', { files: [{ filename: 'd' }] }), 507, FULL)
    expect((await upload(await uploadUrl(locker, 'a'), 100)).status).toBe(200)
    // A full locker still accepts a smaller replacement.
    expect((await upload(await uploadUrl(locker, 'a'), 99)).status).toBe(200)
    expect((await record(locker)).file_count).toBe(3)
  })

  it('T-56 LOCK-14 after its term a locker refuses writes, and its files are read, confirmed and deleted', async () => {
    const locker = await instance.locker(ed25519Identity())
    await locker.put('a', 'a')
    await locker.put('b', 'b', { confirm: false })
    instance.clock.advance(10 * 86_400)
    const url = (await locker.call<{ upload_url: string }>(['locker:read'], 'GET', '/files/a')).body.upload_url
    expectRefusal(await upload(instance.gateway.url + new URL(url).pathname, 1), 507, FULL)
    expectRefusal(await locker.call(WRITE, 'POST', '/files', { filename: 'a' }), 507, FULL)
    expectRefusal(await locker.call(WRITE, 'POST', '/upload-sessions', { files: [{ filename: 'a' }] }), 507, FULL)
    expectRefusal(await fetchInto(locker, 'a'), 507, FULL)
    const query = new URLSearchParams({ receipt_id: locker.receiptId, filename: 'b' })
    expect((await instance.send('POST', `/v1/files/confirm?${query}`)).status).toBe(200)
    expect(await (await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/b`)).text()).toBe('b')
    expect((await locker.call(WRITE, 'DELETE', '/files/a')).status).toBe(200)
  })

  it('T-56 concurrent writers never exceed what was bought', async () => {
    const locker = await instance.locker(ed25519Identity())
    const names = ['a', 'b', 'c']
    const urls = await Promise.all(names.map((name) => uploadUrl(locker, name)))
    const replies = await Promise.all(urls.flatMap((url) => [upload(url, 40), upload(url, 45)]))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 507]))
    const { body } = await locker.call<{ bytes: { used: number } }>(['locker:read'], 'GET', '/usage')
    expect(body.bytes.used).toBeLessThanOrEqual(100)
    const more = await Promise.all(
      Array.from({ length: 10 }, (_, i) => locker.call(WRITE, 'POST', '/files', { filename: `more-${i}` })),
    )
    expect(more.map(({ status }) => status)).toEqual(Array(10).fill(507))
    expect((await record(locker)).file_count).toBe(3)
  })
})

it('LIM-07 ERR-28 by default no protocol enforces the terms of a locker, and it outlives them', async () => {
  const fetchSource = async () => {
    const stream = Readable.from([Buffer.from('fetched bytes')])
    return { stream, contentType: 'text/plain', size: 13, finalUrl: '' }
  }
  const instance = await openTestGateway({}, { fetchSource })
  const locker = await instance.locker(ed25519Identity())
  const { lockerId, receiptId, put, call } = locker
  const terms = JSON.stringify({ storage_limit_bytes: 1, file_limit: 1, egress_included_bytes: 0, ttl_days: 1 })
  const { db } = instance.gateway.context.database
  await writable(db).updateTable('lockers').set({ terms }).where('locker_id', '=', lockerId).execute()
  await put('a.txt', 'more than one byte')
  instance.clock.advance(400 * 86_400)
  expect(await instance.gateway.context.queue.drain()).toMatchObject({ failed: 0, dead: 0 })
  const link = await fetch(`${instance.gateway.url}/v1/r/${locker.receiptId}/f/a.txt`)
  expect([link.status, await link.text()]).toEqual([200, 'more than one byte'])
  await put('b.txt', 'more than one file')
  const { body } = await call<{ file_count: number; total_bytes: number }>(['locker:read'], 'GET', '/record')
  expect(body).toMatchObject({ file_count: 2, total_bytes: 36, expires_at: '2027-09-01T12:00:00Z' })
  const files = [{ filename: 'c.txt' }, { filename: 'd.txt' }]
  expect((await call(['locker:write'], 'POST', '/files/batch', { files })).status).toBe(200)
  const session = await openTestSession(instance, locker, { files })
  for (const file of [0, 1]) expect((await session.raw(0, 'one more file', { file })).status).toBe(200)
  expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [{ ok: true }, { ok: true }] })
  const fetched = await instance.call(locker.owner, {
    method: 'POST',
    path: '/v1/files/fetch-and-store',
    body: { source_url: 'https://files.example.test/e.txt' },
    ops: ['locker:write'],
    lockerId,
    receiptId,
  })
  expect(fetched.status, JSON.stringify(fetched.body)).toBe(200)
  expect(await (await fetch(`${instance.gateway.url}/v1/r/${receiptId}/f/e.txt`)).text()).toBe('fetched bytes')
  expect((await call(['locker:read'], 'GET', '/record')).body).toMatchObject({
    file_count: 5,
    terms: JSON.parse(terms),
  })
  await instance.close()
})
