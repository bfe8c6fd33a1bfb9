import type { UrlSet } from '@svc/api/file-entries'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readExpectedHash } from '../../src/files/name-files.ts'
import { findFile } from '../../src/files/store.ts'
import { lockerRow, storeFile } from './files.ts'

const instance = forAllTests(() => openTestGateway({ BASE_URL: 'https://storage.example/svc' }))
const locker = forEachTest(() => instance.locker(ed25519Identity()))

const create = (body: unknown) => locker.call<UrlSet>(['locker:write'], 'POST', '/files', body)
const rowOf = (filename: string) => findFile(instance.gateway.context.database.db, locker.lockerId, filename)

it('FILE-08 GEN-06 creating a file answers 200 with URLs on the base URL', async () => {
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

it('STATE-06 FILE-09 a created file awaits its bytes and has no hash, and a default type', async () => {
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

it('ADD-11 a header names the ignored fields of a body, because one may be misspelled', async () => {
  const { status, headers } = await create({ filename: 'named', name: 'x', 'a\r\nb: c, ü\ud800': 1 })
  expect([status, headers.get('svc-ignored-fields')]).toEqual([200, 'name, a%0D%0Ab%3A%20c%2C%20%C3%BC%EF%BF%BD'])
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`${i}`.padEnd(60, 'x'), i]))
  const named = (await create(many)).headers.get('svc-ignored-fields')
  expect(named?.split(', ').map(({ length }) => length)).toEqual([50, 50, 50, 50, 50])
  expect((await create({ filename: 'plain' })).headers.has('svc-ignored-fields')).toBe(false)
})

it.each([1, 1440])('FILE-11 LIM-02 create accepts a ttl_min of %i', async (ttl_min) => {
  expect((await create({ filename: 'ttl', ttl_min })).body.urls_expire_in_sec).toBe(ttl_min * 60)
})

it.each([
  ['FILE-10 LIM-01', 'ttl_min', 0],
  ['FILE-10 LIM-01', 'ttl_min', 1441],
  ['FILE-10 LIM-01', 'ttl_min', '30'],
  ['FILE-03 AMB-22', 'filename', 'a:b'],
  ['FILE-09 T-30', 'content_type', 'text/plain\r\nSet-Cookie: a=b'],
  ['FILE-23', 'expected_hash', 'ab'],
  ['GEN-08', 'filename', null],
])('%s FILE-31 create refuses the %s %j, creates nothing, and says what to do next', async (_, field, value) => {
  const reply = await create({ filename: 'good', [field]: value })
  expectRefusal(reply, 422, 'validation_error')
  const details = { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) }
  expect(reply.body).toMatchObject({ detail: [{ loc: ['body', field] }], details })
  expect(await rowOf('good')).toBeNull()
})

it('AMB-24 FILE-23 creating an existing name keeps its bytes, hash and type, and the new facts apply to the next upload', async () => {
  const before = await storeFile(instance, locker, 'a', 'hello')
  const expected_hash = `SHA256:${'CD'.repeat(32)}`
  const { status, body } = await create({ filename: 'a', content_type: 'text/csv', expected_hash })
  expect([status, body.upload_headers]).toEqual([200, { 'Content-Type': 'text/csv' }])
  const next = { upload_content_type: 'text/csv', upload_expected_hash: `sha256:${'cd'.repeat(32)}` }
  expect(await rowOf('a')).toEqual({ ...before, ...next })
  await create({ filename: 'a' })
  expect(await rowOf('a')).toEqual({ ...before, upload_content_type: 'application/octet-stream' })
})

interface UrlSets {
  files: { filename: string; upload_headers: Record<string, string>; upload_url: string }[]
  count: number
}

const createAll = (body: unknown) => locker.call<UrlSets>(['locker:write'], 'POST', '/files/batch', body)

it('FILE-12 batch create returns the URLs of each file in order, with its own type', async () => {
  const files = [{ filename: 'z.csv', content_type: 'text/csv' }, { filename: 'a/b' }, {}]
  const { status, body } = await createAll({ files, ttl_min: 5 })
  const url = expect.stringMatching(/\/f\/[A-Za-z0-9_-]+$/)
  const urlsOf = (filename: unknown, content_type = 'application/octet-stream') => ({
    filename,
    content_type,
    upload_url: url,
    upload_headers: { 'Content-Type': content_type },
    download_url: url,
    delete_url: url,
    urls_expire_in_sec: 300,
  })
  const sets = [urlsOf('z.csv', 'text/csv'), urlsOf('a/b'), urlsOf(expect.stringMatching(/^file_[0-9a-f]{16}$/))]
  const answer = { locker_id: locker.lockerId, files: sets, count: 3, urls_expire_in_sec: 300 }
  expect([status, body]).toEqual([200, answer])
})

it('FILE-12 batch create changes the manifest once, counts only new names, and changes nothing without any', async () => {
  await storeFile(instance, locker, 'kept', 'bytes')
  const before = await lockerRow(instance, locker)
  const names = ['new-1', 'kept', 'new-2'].map((filename) => ({ filename }))
  for (const _ of ['once', 'twice']) {
    expect((await createAll({ files: names })).status).toBe(200)
    const changed = { file_count: before.file_count + 2, manifest_version: before.manifest_version + 1 }
    expect(await lockerRow(instance, locker)).toMatchObject(changed)
  }
})

it.each([
  ['a name', 'filename', 'a:b'],
  ['a repeated name', 'filename', 'good'],
  ['a type', 'content_type', 'nothing'],
])('FILE-12 batch create refuses all files for %s, and says which one', async (_, field, value) => {
  const reply = await createAll({ files: [{ filename: 'good' }, { [field]: value }, { filename: 'good too' }] })
  expectRefusal(reply, 422, 'validation_error')
  expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'files', 1, field] }] })
  expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 0, manifest_version: 0 })
})

it('FILE-12 batch create lists many invalid files, up to a limit', async () => {
  const reply = await createAll({ files: Array.from({ length: 1000 }, () => ({ filename: 'a:b' })) })
  const { detail } = reply.body as unknown as { detail: { loc: unknown[] }[] }
  expect([detail.length, detail[0]?.loc]).toEqual([20, ['body', 'files', 0, 'filename']])
})

it('LIM-12 batch create accepts 1,000 files and no more', async () => {
  const many = (count: number) => ({ files: Array.from({ length: count }, (_, i) => ({ filename: `many/${i}` })) })
  expectRefusal(await createAll(many(1001)), 422, 'validation_error')
  const { status, body } = await createAll(many(1000))
  expect([status, body.count, new Set(body.files.map(({ upload_url }) => upload_url)).size]).toEqual([200, 1000, 1000])
  expect((await lockerRow(instance, locker)).file_count).toBe(1000)
})

const BAD = [{ files: [] }, { files: [null] }, { files: [{}], ttl_min: 0 }]
it.each(BAD)('FILE-10 FILE-12 batch create refuses %j', async (body) => {
  expectRefusal(await createAll(body), 422, 'validation_error')
})

const hex = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const anyHex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })

it('FILE-23 an expected hash may have a prefix and be in upper or lower case', () => {
  fc.assert(
    fc.property(fc.mixedCase(anyHex), fc.mixedCase(fc.constant('sha256:')), (spelled, prefix) => {
      const canonical = `sha256:${spelled.toLowerCase()}`
      expect(readExpectedHash(spelled)).toBe(canonical)
      expect(readExpectedHash(prefix + spelled)).toBe(canonical)
    }),
  )
})

it.each([
  ['empty text', ''],
  ['65 digits', `0${hex}`],
  ['a letter beyond hex', `g${hex.slice(1)}`],
  ['another algorithm', `sha512:${hex}`],
  ['two prefixes', `sha256:sha256:${hex}`],
  ['an inner space', `sha256: ${hex}`],
  ['a trailing line break', `${hex}\n`],
  ['a letter that folds to s', `\u017fha256:${hex}`],
  ['digits of another script', '\u0661'.repeat(64)],
  ['a million digits', '0'.repeat(1_000_000)],
])('FILE-23 an expected hash of %s is refused', (_, text) => {
  expect(readExpectedHash(text)).toBeNull()
})
