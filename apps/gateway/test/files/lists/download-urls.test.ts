import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { insertFiles, storeFile } from '../files.ts'

interface DownloadUrls {
  locker_id: string
  urls: { filename: string; download_url: string; content_hash: string | null; size_bytes: number | null }[]
  found: number
  not_found: string[]
  urls_expire_in_sec: number
  next_cursor?: string
}

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({ BASE_URL: 'https://storage.example/svc' })
  locker = await house.locker(ed25519Identity())
  await storeFile(house, locker, 'b', 'hello', { contentType: 'text/html' })
  await storeFile(house, locker, 'a', 'not confirmed', { isConfirmed: false })
  await storeFile(house, locker, '__proto__', 'twin')
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'empty' })
})
afterAll(() => house.close())

const ask = (body: unknown) => locker.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', body)
const all = (query = '', ops = ['locker:read']) => locker.call<DownloadUrls>(ops, 'GET', `/urls${query}`)

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
  const { status, body } = await ask({
    filenames: ['b', 'nowhere', 'a', 'empty', 'toString', '__proto__', 'a..b'],
    ttl_min: 2,
  })
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
})

it('FILE-17 a repeated name gets one download URL', async () => {
  const { body } = await ask({ filenames: ['b', 'x', 'b', 'x'] })
  expect([body.found, body.urls.length, body.not_found]).toEqual([1, 1, ['x']])
})

it('FILE-17 an empty list of names answers no URLs', async () => {
  expect((await ask({ filenames: [] })).body).toMatchObject({
    urls: [],
    found: 0,
    not_found: [],
    urls_expire_in_sec: 1800,
  })
})

it('FILE-17 AMB-47 download URLs are minted for 1,000 names at once and no more', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `n${i}`)
  expect((await ask({ filenames: names })).body.not_found).toEqual(names)
  expectRefusal(await ask({ filenames: [...names, 'b'] }), 422, 'validation_error')
})

it.each([{}, { filenames: 'b' }, { filenames: [1] }, { filenames: [null] }, { filenames: [''] }, { filenames: {} }])(
  'FILE-17 download URLs refuse the body %j',
  async (body) => {
    expectRefusal(await ask(body), 422, 'validation_error')
  },
)

it.each([0, 1441, 1.5, '30', null])('FILE-10 LIM-01 download URLs refuse a ttl_min of %j', async (ttl_min) => {
  expectRefusal(await ask({ filenames: ['b'], ttl_min }), 422, 'validation_error')
})

it.each(['0', '1441', '1.5', '30m', 'null'])('FILE-10 LIM-01 refuses ttl_min=%s', async (ttlMin) => {
  expectRefusal(await all(`?ttl_min=${ttlMin}`), 422, 'validation_error')
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
  expectRefusal(await house.send('GET', `/v1/lockers/${locker.lockerId}/urls`), 401, 'MISSING_ENVELOPE')
  expect((await all('?ttl_min=7')).body.urls_expire_in_sec).toBe(420)
})

it('LOCK-13 the URLs of a locker come in pages', async () => {
  const paged = await house.locker(ed25519Identity())
  const withBytes = (i: number) => (i % 2 === 0 ? { object_id: `${i}`.padStart(32, '0') } : {})
  await insertFiles(house, paged, ['a', 'b', 'c', 'd', 'e'], withBytes)
  const page = async (query: string) => (await paged.call<DownloadUrls>(['locker:read'], 'GET', `/urls${query}`)).body
  const first = await page('?limit=2')
  expect([first.urls.map(({ filename }) => filename), first.found, first.not_found]).toEqual([['a'], 1, ['b']])
  const rest = await page(`?limit=5&cursor=${first.next_cursor}`)
  expect([rest.urls.map(({ filename }) => filename), rest.not_found, rest.next_cursor]).toEqual([
    ['c', 'e'],
    ['d'],
    undefined,
  ])
})

it('LIM-11 one call counts once, however many URLs it mints', async () => {
  const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '2' })
  try {
    const locker = await limited.locker(ed25519Identity())
    await insertFiles(limited, locker, ['a', 'b', 'c'], (i) => ({ object_id: `${i}`.padStart(32, '0') }))
    const some = () => locker.call(['locker:read'], 'POST', '/files/urls', { filenames: ['a', 'b', 'c'] })
    const all = () => locker.call(['locker:read'], 'GET', '/urls')
    expect([(await some()).body, (await all()).body]).toMatchObject([{ found: 3 }, { found: 3 }])
    expectRefusal(await some(), 429, 'RATE_LIMITED')
    expectRefusal(await all(), 429, 'RATE_LIMITED')
  } finally {
    await limited.close()
  }
})
