import type { DownloadUrls } from '@svc/api/file-entries'
import type { Manifest } from '@svc/api/files'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import { toBase64Url, utf8 } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { expect, it } from 'vitest'
import { insertFiles, storeFile } from '../files.ts'

interface FileList {
  locker_id: string
  files: { filename: string }[]
  count: number
  next_cursor?: string
}

const instance = forAllTests(() => openTestGateway({ BASE_URL: 'https://storage.example/svc' }))
const locker = forEachTest(() => instance.locker(ed25519Identity(), { provider: 'arweave' }))

const list = (query = '') => locker.call<FileList>(['locker:list'], 'GET', `/files${query}`)
const namesOf = ({ files }: FileList) => files.map(({ filename }) => filename)

it('FILE-13 the list shows the metadata of each file, and not where it is stored', async () => {
  await storeFile(instance, locker, 'confirmed', 'hello', { contentType: 'text/html' })
  await storeFile(instance, locker, 'uploaded', 'hello', { isConfirmed: false })
  const at = '2026-09-01T12:00:00Z'
  const confirmed = {
    filename: 'confirmed',
    size_bytes: 5,
    content_hash: 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    content_type: 'text/html',
    uploaded_at: at,
    hash_recorded_at: at,
    status: 'confirmed',
  }
  const unknown = { size_bytes: null, content_hash: null, hash_recorded_at: null, status: 'awaiting_bytes' }
  const uploaded = { ...confirmed, ...unknown, filename: 'uploaded', content_type: 'text/plain' }
  expect((await list()).body).toEqual({ locker_id: locker.lockerId, files: [confirmed, uploaded], count: 2 })
})

it('FILE-13 the list has pages, and none after the last file', async () => {
  await insertFiles(instance, locker, ['a', 'b', 'c', 'd'])
  const { body: first } = await list('?limit=2')
  expect([namesOf(first), first.count, first.next_cursor]).toEqual([['a', 'b'], 2, toBase64Url(utf8('b'))])
  for (const query of [`?limit=2&cursor=${first.next_cursor}`, `?cursor=${first.next_cursor}`]) {
    const { body } = await list(query)
    expect([namesOf(body), body.next_cursor]).toEqual([['c', 'd'], undefined])
  }
  const { body: beyond } = await list(`?limit=2&cursor=${toBase64Url(utf8('zzz'))}`)
  expect([beyond.files, beyond.count, beyond.next_cursor]).toEqual([[], 0, undefined])
})

it('FILE-13 a cursor stays valid when its file is deleted and files are added around it', async () => {
  await insertFiles(instance, locker, ['b', 'd', 'f'])
  const { body: first } = await list('?limit=2')
  await locker.call(['locker:write'], 'DELETE', '/files/d')
  await insertFiles(instance, locker, ['a', 'e'])
  expect(namesOf((await list(`?limit=9&cursor=${first.next_cursor}`)).body)).toEqual(['e', 'f'])
})

const encoded = (...bytes: number[]) => toBase64Url(Uint8Array.from(bytes))

it.each([
  ['cursor', 'no base64url', 'a+b'],
  ['cursor', 'with stray bits', 'YR'],
  ['cursor', 'empty', ''],
  ['cursor', 'no UTF-8', encoded(0xff)],
  ['cursor', 'a surrogate', encoded(0xed, 0xa0, 0x80)],
  ['cursor', 'with a NUL', encoded(0x61, 0x00)],
  ['cursor', 'too long', 'YWFh'.repeat(257)],
  ['cursor', 'given twice', 'YQ&cursor=YQ'],
  ['limit', 'too small', '0'],
  ['limit', 'too large', '10001'],
  ['limit', 'no number', 'all'],
])('FILE-13 the gateway refuses a %s that is %s, in every list', async (name, _, value) => {
  for (const path of ['/files', '/manifest', '/urls']) {
    const ops = ['locker:list', 'locker:read']
    const reply = await locker.call<{ detail: { loc: string[] }[] }>(ops, 'GET', `${path}?${name}=${value}`)
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body.detail[0]?.loc).toEqual(['query', name])
  }
})

const newLocker = (provider = 'gcs') => instance.locker(ed25519Identity(), { provider })
const read = async (locker: TestLocker, query = '') =>
  (await locker.call<Manifest>(['locker:read'], 'GET', `/manifest${query}`)).body
const now = () => isoSeconds(instance.clock.now() / 1000)

it('FILE-18 FILE-33 the manifest of a new locker is empty and as old as the locker', async () => {
  const locker = await newLocker()
  const openedAt = now()
  instance.clock.advance(3600)
  const ids = { locker_id: locker.lockerId, receipt_id: locker.receiptId }
  const facts = { manifest_version: 0, updated_at: openedAt, file_count: 0, total_bytes: 0, files: [] }
  expect(await read(locker)).toEqual({ ...ids, ...facts })
})

it('FILE-19 ATT-20 the manifest lists each entry with its provider and counts the bytes of confirmed files', async () => {
  const locker = await newLocker('storj')
  await storeFile(instance, locker, 'b', 'hello')
  await storeFile(instance, locker, 'a', 'not confirmed', { isConfirmed: false })
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'c' })
  const body = await read(locker)
  expect(body).toMatchObject({ file_count: 3, total_bytes: 5, manifest_version: 3 })
  expect(body.files[1]).toEqual({
    filename: 'b',
    size_bytes: 5,
    content_hash: 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    content_type: 'text/plain',
    uploaded_at: body.updated_at,
    hash_recorded_at: body.updated_at,
    status: 'confirmed',
    provider: 'storj',
    provider_ref: null,
  })
  const at = { provider: 'storj', provider_ref: null }
  expect(body.files).toMatchObject(['a', 'b', 'c'].map((filename) => ({ filename, ...at })))
})

it.each([
  ['arweave', 'tx-1', 'tx-1'],
  ['filecoin', 'bafkzcibcaebjsf7omg4a676?size=5', 'bafkzcibcaebjsf7omg4a676'],
])('FILE-17 FILE-19 the reference of an object at %s is shown without the suffix of the driver', async (...row) => {
  const [provider, provider_ref, shown] = row
  const locker = await newLocker(provider)
  await insertFiles(instance, locker, ['a'], () => ({ object_id: '00'.repeat(16), provider_ref }))
  expect((await read(locker)).files[0]).toMatchObject({ provider, provider_ref: shown })
  const list = await locker.call<{ files: object[] }>(['locker:list'], 'GET', '/files')
  expect(list.body.files[0]).toMatchObject({ provider_ref: shown })
  const refresh = { method: 'POST', path: '/v1/storage/refresh', body: { ttl_min: 1 }, ops: ['locker:refresh'] }
  const answers = [
    await locker.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', { filenames: ['a'] }),
    await locker.call<DownloadUrls>(['locker:read'], 'GET', '/urls'),
    await instance.call<DownloadUrls>(locker.owner, { ...refresh, lockerId: locker.lockerId }),
  ]
  for (const { body } of answers) expect(body.urls[0]).toMatchObject({ provider_ref: shown })
})

it("FILE-18 each change increments the manifest's version and sets its time", async () => {
  const locker = await newLocker()
  const create = { filename: 'a' }
  const versions = [(await read(locker)).manifest_version]
  for (const body of [create, { ...create, content_type: 'text/html' }]) {
    await locker.call(['locker:write'], 'POST', '/files', body)
    versions.push((await read(locker)).manifest_version)
  }
  instance.clock.advance(60)
  await locker.call(['locker:write'], 'DELETE', '/files/a')
  const { manifest_version, updated_at } = await read(locker)
  expect([...versions, manifest_version, updated_at]).toEqual([0, 1, 1, 2, now()])
})

const filled = forAllTests(async () => {
  const made = await instance.locker(ed25519Identity())
  await storeFile(instance, made, 'b', 'hello', { contentType: 'text/html' })
  await storeFile(instance, made, 'a', 'not confirmed', { isConfirmed: false })
  await storeFile(instance, made, '__proto__', 'twin')
  await made.call(['locker:write'], 'POST', '/files', { filename: 'empty' })
  return made
})

const ask = (body: unknown) => filled.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', body)
const all = (query = '', ops = ['locker:read'], of = filled) => of.call<DownloadUrls>(ops, 'GET', `/urls${query}`)

const B = {
  filename: 'b',
  download_url: expect.stringMatching(/^https:\/\/storage\.example\/svc\/f\/[A-Za-z0-9_-]+$/),
  content_type: 'text/html',
  content_hash: 'sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
  size_bytes: 5,
  uploaded_at: expect.any(String),
  provider_ref: null,
}

it('FILE-17 download URLs come in the order of the request, with the names that are missing or have no bytes', async () => {
  const filenames = ['b', 'nowhere', 'a', 'b', 'empty', 'toString', '__proto__', 'a..b', 'nowhere']
  const { status, body } = await ask({ filenames, ttl_min: 2 })
  expect(status).toBe(200)
  expect(body).toEqual({
    locker_id: filled.lockerId,
    urls: [
      B,
      { ...B, filename: 'a', content_type: 'text/plain', content_hash: null, size_bytes: null },
      { ...B, filename: '__proto__', content_type: 'text/plain', content_hash: expect.any(String), size_bytes: 4 },
    ],
    found: 3,
    not_found: ['nowhere', 'empty', 'toString', 'a..b'],
    urls_expire_in_sec: 120,
  })
  const none = { urls: [], found: 0, not_found: [], urls_expire_in_sec: 1800 }
  expect((await ask({ filenames: [] })).body).toMatchObject(none)
})

it('FILE-17 LIM-12 download URLs are minted for at most 1,000 names per request', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
  expect((await ask({ filenames: names })).body.not_found).toEqual(names)
  expectRefusal(await ask({ filenames: [...names, 'b'] }), 422, 'validation_error')
})

const BAD = [{}, { filenames: [''] }, { filenames: ['b'], ttl_min: 0 }, { filenames: ['b'], ttl_min: 1441 }]
it.each(BAD)('FILE-10 FILE-17 a request for download URLs refuses the body %j', async (body) => {
  expectRefusal(await ask(body), 422, 'validation_error')
})

it('LOCK-13 LOCK-12 the URLs of a locker cover all files with bytes, for locker:read and for locker:list', async () => {
  for (const ops of [['locker:read'], ['locker:list']]) {
    const { status, body } = await all('', ops)
    expect(status).toBe(200)
    expect(body).toMatchObject({ locker_id: filled.lockerId, found: 3, not_found: ['empty'], urls_expire_in_sec: 1800 })
    expect(body.urls.map(({ filename }) => filename)).toEqual(['__proto__', 'a', 'b'])
    expect(body.urls[2]).toEqual(B)
  }
  expectRefusal(await all('', ['locker:write']), 403, 'MISSING_OPS')
})

it('FILE-10 LIM-01 the URLs of a locker accept ttl_min in the query', async () => {
  expect((await all('?ttl_min=7')).body.urls_expire_in_sec).toBe(420)
  expectRefusal(await all('?ttl_min=1441'), 422, 'validation_error')
})

it('LOCK-13 the URLs of a locker come in pages', async () => {
  const paged = await instance.locker(ed25519Identity())
  const withBytes = (i: number) => (i % 2 === 0 ? { object_id: `${i}`.padStart(32, '0') } : {})
  await insertFiles(instance, paged, ['a', 'b', 'c', 'd', 'e'], withBytes)
  const page = async (query: string) => (await all(query, ['locker:read'], paged)).body
  const first = await page('?limit=2')
  expect([first.urls.map(({ filename }) => filename), first.found, first.not_found]).toEqual([['a'], 1, ['b']])
  const rest = await page(`?limit=5&cursor=${first.next_cursor}`)
  const found = rest.urls.map(({ filename }) => filename)
  expect([found, rest.not_found, rest.next_cursor]).toEqual([['c', 'e'], ['d'], undefined])
})
