import type { DownloadUrls } from '@svc/api/file-entries'
import { forAllTests } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { mapInChunks } from '../../../src/files/urls.ts'
import { insertFiles, storeFile } from '../files.ts'

const house = forAllTests(() => openTestGateway({ BASE_URL: 'https://storage.example/svc' }))
const locker = forAllTests(async () => {
  const made = await house.locker(ed25519Identity())
  await storeFile(house, made, 'b', 'hello', { contentType: 'text/html' })
  await storeFile(house, made, 'a', 'not confirmed', { isConfirmed: false })
  await storeFile(house, made, '__proto__', 'twin')
  await made.call(['locker:write'], 'POST', '/files', { filename: 'empty' })
  return made
})

const ask = (body: unknown) => locker.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', body)
const all = (query = '', ops = ['locker:read'], of = locker) => of.call<DownloadUrls>(ops, 'GET', `/urls${query}`)

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
    locker_id: locker.lockerId,
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

it('FILE-17 AMB-47 download URLs are minted for 1,000 names at once and no more', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
  expect((await ask({ filenames: names })).body.not_found).toEqual(names)
  expectRefusal(await ask({ filenames: [...names, 'b'] }), 422, 'validation_error')
})

const BAD = [{}, { filenames: [''] }, { filenames: ['b'], ttl_min: 0 }, { filenames: ['b'], ttl_min: 1441 }]
it.each(BAD)('FILE-10 FILE-17 LIM-01 download URLs refuse the body %j', async (body) => {
  expectRefusal(await ask(body), 422, 'validation_error')
})

it('LOCK-13 SHAPE-16 AMB-19 the URLs of a locker cover all files with bytes, for locker:read and for locker:list', async () => {
  for (const ops of [['locker:read'], ['locker:list']]) {
    const { status, body } = await all('', ops)
    expect(status).toBe(200)
    expect(body).toMatchObject({ locker_id: locker.lockerId, found: 3, not_found: ['empty'], urls_expire_in_sec: 1800 })
    expect(body.urls.map(({ filename }) => filename)).toEqual(['__proto__', 'a', 'b'])
    expect(body.urls[2]).toEqual(B)
  }
  expectRefusal(await all('', ['locker:write']), 403, 'MISSING_OPS')
})

it('FILE-10 LIM-01 the URLs of a locker take ttl_min in the query', async () => {
  expect((await all('?ttl_min=7')).body.urls_expire_in_sec).toBe(420)
  expectRefusal(await all('?ttl_min=1441'), 422, 'validation_error')
})

it('LOCK-13 the URLs of a locker come in pages', async () => {
  const paged = await house.locker(ed25519Identity())
  const withBytes = (i: number) => (i % 2 === 0 ? { object_id: `${i}`.padStart(32, '0') } : {})
  await insertFiles(house, paged, ['a', 'b', 'c', 'd', 'e'], withBytes)
  const page = async (query: string) => (await all(query, ['locker:read'], paged)).body
  const first = await page('?limit=2')
  expect([first.urls.map(({ filename }) => filename), first.found, first.not_found]).toEqual([['a'], 1, ['b']])
  const rest = await page(`?limit=5&cursor=${first.next_cursor}`)
  const found = rest.urls.map(({ filename }) => filename)
  expect([found, rest.not_found, rest.next_cursor]).toEqual([['c', 'e'], ['d'], undefined])
})

it('mapping in chunks keeps the order and lets other work run in between', async () => {
  let turns = 0
  let isDone = false
  function takeTurn(): void {
    turns++
    if (!isDone) setImmediate(takeTurn)
  }
  setImmediate(takeTurn)
  const items = Array.from({ length: 100 }, (_, i) => i)
  expect(await mapInChunks(items, (item) => item * 2)).toEqual(items.map((item) => item * 2))
  isDone = true
  expect(turns).toBeGreaterThanOrEqual(5)
})
