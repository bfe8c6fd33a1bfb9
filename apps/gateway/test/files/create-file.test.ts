import type { UrlSet } from '@svc/api/file-entries'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { findFile } from '../../src/files/store.ts'
import { storeFile } from './files.ts'

const house = forAllTests(() => openTestGateway({ BASE_URL: 'https://storage.example/svc' }))
const locker = forEachTest(() => house.locker(ed25519Identity()))

const create = (body: unknown) => locker.call<UrlSet>(['locker:write'], 'POST', '/files', body)
const rowOf = (filename: string) => findFile(house.gateway.context.database.db, locker.lockerId, filename)

it('FILE-01 FILE-07 FILE-08 FILE-11 LIM-01 LIM-02 GEN-06 GEN-07 AMB-67 creating a file answers 200 with URLs on the base URL', async () => {
  const { status, headers, body } = await create({ filename: 'docs/a.txt', content_type: 'text/plain' })
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(body).toEqual({
    locker_id: locker.lockerId,
    filename: 'docs/a.txt',
    content_type: 'text/plain',
    upload_url: expect.any(String),
    upload_headers: { 'Content-Type': 'text/plain' },
    download_url: expect.any(String),
    delete_url: expect.any(String),
    urls_expire_in_sec: 1800,
  })
  const urls = [body.upload_url, body.download_url, body.delete_url]
  for (const url of urls) expect(url).toMatch(/^https:\/\/storage\.example\/svc\/f\/[A-Za-z0-9_-]+$/)
  expect(new Set(urls).size).toBe(3)
})

it('STATE-06 AMB-63 a created file awaits its bytes and has no hash, and a default type', async () => {
  expect((await create({ filename: 'new' })).body.upload_headers).toEqual({
    'Content-Type': 'application/octet-stream',
  })
  const { body } = await locker.call<{ files: object[] }>(['locker:list'], 'GET', '/files')
  expect(body.files).toEqual([
    {
      filename: 'new',
      size_bytes: null,
      content_hash: null,
      content_type: 'application/octet-stream',
      uploaded_at: null,
      hash_recorded_at: null,
      status: 'awaiting_bytes',
    },
  ])
})

it('FILE-02 ADD-11 each create without a name, or without a body, gets a new generated one', async () => {
  const bodies = [{}, { content_type: 'text/plain' }, undefined]
  const names = await Promise.all(bodies.map(async (body) => (await create(body)).body.filename))
  for (const name of names) expect(name).toMatch(/^file_[0-9a-f]{16}$/)
  expect(new Set(names).size).toBe(3)
  expect(await rowOf(names[1] as string)).toMatchObject({ content_type: 'text/plain' })
})

it.each([1, 1440])('FILE-10 FILE-11 LIM-01 LIM-02 create takes a ttl_min of %i', async (ttl_min) => {
  expect((await create({ filename: 'ttl', ttl_min })).body.urls_expire_in_sec).toBe(ttl_min * 60)
})

it.each([
  ['FILE-10 LIM-01', 'ttl_min', 0],
  ['FILE-10 LIM-01', 'ttl_min', 1441],
  ['FILE-10 LIM-01', 'ttl_min', '30'],
  ['FILE-03 AMB-22', 'filename', 'a:b'],
  ['AMB-63 T-30', 'content_type', 'text/plain\r\nSet-Cookie: a=b'],
  ['AMB-73', 'expected_hash', 'ab'],
  ['GEN-08', 'filename', null],
])('%s FILE-31 create refuses the %s %j, creates nothing, and says what to do next', async (_, field, value) => {
  const reply = await create({ filename: 'good', [field]: value })
  expectRefusal(reply, 422, 'validation_error')
  const details = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }
  expect(reply.body).toMatchObject({ detail: [{ loc: ['body', field] }], details })
  expect(await rowOf('good')).toBeNull()
})

it('create lists all invalid fields in one answer', async () => {
  const reply = await create({ filename: 'a:b', content_type: 'no', expected_hash: 'no' })
  const { detail } = reply.body as unknown as { detail: { loc: string[] }[] }
  expect(detail.map(({ loc }) => loc[1])).toEqual(['filename', 'content_type', 'expected_hash'])
})

it('AMB-24 AMB-73 creating an existing name keeps its bytes, hash and type; the rest is for the next upload', async () => {
  const before = await storeFile(house, locker, 'a', 'hello')
  const expected_hash = `SHA256:${'CD'.repeat(32)}`
  const { status, body } = await create({ filename: 'a', content_type: 'text/csv', expected_hash })
  expect([status, body.upload_headers]).toEqual([200, { 'Content-Type': 'text/csv' }])
  const next = { upload_content_type: 'text/csv', upload_expected_hash: `sha256:${'cd'.repeat(32)}` }
  expect(await rowOf('a')).toEqual({ ...before, ...next })
  await create({ filename: 'a' })
  expect(await rowOf('a')).toEqual({ ...before, upload_content_type: 'application/octet-stream' })
})
