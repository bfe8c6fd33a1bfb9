import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFile } from '../../src/files/store.ts'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { lockerRow, storeFile } from './files.ts'

interface UrlSet {
  locker_id: string
  filename: string
  content_type: string
  upload_url: string
  upload_headers: Record<string, string>
  download_url: string
  delete_url: string
  urls_expire_in_sec: number
}

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({ BASE_URL: 'https://storage.example/svc' })
  locker = await house.locker(ed25519Identity())
})
afterAll(() => house.close())

const create = (body: unknown) => locker.call<UrlSet>(['locker:write'], 'POST', '/files', body)
const rowOf = (filename: string) => findFile(house.gateway.context.database.db, locker.lockerId, filename)

describe('creating a file', () => {
  it('FILE-01 FILE-07 FILE-08 FILE-11 LIM-01 LIM-02 GEN-06 GEN-07 AMB-67 creating a file answers 200 with URLs on the base URL', async () => {
    const { status, headers, body } = await create({ filename: 'docs/a.txt', content_type: 'text/plain' })
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
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

  it('STATE-06 a created file awaits its bytes and has no hash', async () => {
    await create({ filename: 'new' })
    const { body } = await locker.call<{ files: { filename: string }[] }>(['locker:list'], 'GET', '/files')
    expect(body.files.find(({ filename }) => filename === 'new')).toEqual({
      filename: 'new',
      size_bytes: null,
      content_hash: null,
      content_type: 'application/octet-stream',
      uploaded_at: null,
      hash_recorded_at: null,
      status: 'awaiting_bytes',
    })
  })

  it('FILE-02 each create without a name gets a new generated one', async () => {
    const names = [(await create({})).body.filename, (await create({ content_type: 'text/plain' })).body.filename]
    for (const name of names) expect(name).toMatch(/^file_[0-9a-f]{16}$/)
    expect(names[0]).not.toBe(names[1])
    expect(await rowOf(names[1] as string)).toMatchObject({ content_type: 'text/plain' })
  })

  it('AMB-63 the default type of a created file is application/octet-stream', async () => {
    const { body } = await create({ filename: 'untyped' })
    expect([body.content_type, body.upload_headers]).toEqual([
      'application/octet-stream',
      { 'Content-Type': 'application/octet-stream' },
    ])
  })

  it.each([1, 30, 1440])('FILE-10 FILE-11 LIM-01 LIM-02 create takes a ttl_min of %i', async (ttl_min) => {
    expect((await create({ filename: 'ttl', ttl_min })).body.urls_expire_in_sec).toBe(ttl_min * 60)
  })

  it.each([0, 1441, 1.5, -1, '30', null, true, 1e300])('FILE-10 LIM-01 refuses a ttl_min of %j', async (ttl_min) => {
    const reply = await create({ filename: 'bad-ttl', ttl_min })
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'ttl_min'] }] })
    expect(await rowOf('bad-ttl')).toBeNull()
  })

  it.each([
    ['FILE-03', 'a:b'],
    ['FILE-04', 'a\\b'],
    ['FILE-05', 'a..b'],
    ['FILE-06 AMB-22', '.hidden'],
    ['AMB-22', ''],
    ['AMB-22', 'a//b'],
  ])('%s refuses the name %j', async (_, filename) => {
    const reply = await create({ filename })
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'filename'], type: 'value_error' }] })
    expect(await rowOf(filename)).toBeNull()
  })

  it('FILE-31 a refused name comes with the layer and what to do next', async () => {
    expect((await create({ filename: 'a:b' })).body).toMatchObject({
      details: { layer: 'gateway', recovery_hint: expect.any(String), next_best_method: expect.any(String) },
    })
  })

  it('AMB-22 create takes names under the system prefix', async () => {
    expect((await create({ filename: '.svc/index.json' })).status).toBe(200)
  })

  it.each([
    'text',
    'text/',
    '/plain',
    'text/plain;',
    'text/plain\r\nSet-Cookie: a=b',
    'text/plain\n',
    'text/plän',
    'a/b, c/d',
    `text/${'x'.repeat(251)}`,
    '',
  ])('AMB-63 T-30 refuses the type %j', async (content_type) => {
    const reply = await create({ filename: 'bad-type', content_type })
    expectRefusal(reply, 422, 'validation_error')
    expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'content_type'] }] })
    expect(await rowOf('bad-type')).toBeNull()
  })

  it('AMB-73 create takes an expected hash in each of its forms', async () => {
    const hex = 'ab'.repeat(32)
    const forms = [hex, hex.toUpperCase(), `sha256:${hex}`, `SHA256:${hex.toUpperCase()}`]
    for (const [i, expected_hash] of forms.entries()) {
      expect((await create({ filename: `hashed-${i}`, expected_hash })).status).toBe(200)
      expect(await rowOf(`hashed-${i}`)).toMatchObject({ upload_expected_hash: `sha256:${hex}` })
    }
  })

  it.each(['', 'ab', `sha512:${'ab'.repeat(32)}`, `${'ab'.repeat(32)} `, 'zz'.repeat(32), 'ab'.repeat(33)])(
    'AMB-73 refuses the expected hash %j',
    async (expected_hash) => {
      const reply = await create({ filename: 'bad-hash', expected_hash })
      expectRefusal(reply, 422, 'validation_error')
      expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'expected_hash'] }] })
      expect(await rowOf('bad-hash')).toBeNull()
    },
  )

  it('create lists all invalid fields in one answer', async () => {
    const reply = await create({ filename: 'a:b', content_type: 'no', expected_hash: 'no' })
    const { detail } = reply.body as unknown as { detail: { loc: string[] }[] }
    expect(detail.map(({ loc }) => loc[1])).toEqual(['filename', 'content_type', 'expected_hash'])
  })

  it.each(['[]', '"a"', '1', 'null', '{', '{"filename":1}', '{"filename":null}', '{"filename":["a"]}'])(
    'GEN-08 refuses the body %s',
    async (body) => {
      expectRefusal(await create(body), 422, 'validation_error')
    },
  )

  it('ADD-11 create reads an empty body as an empty object', async () => {
    expect((await create(undefined)).body.filename).toMatch(/^file_/)
  })
})

describe('creating an existing name', () => {
  it('AMB-24 creating an existing name keeps its bytes, hash and type, and locks the new type for the next upload', async () => {
    const before = await storeFile(house, locker, 'a', 'hello')
    const hash = `sha256:${'cd'.repeat(32)}`
    const { status, body } = await create({ filename: 'a', content_type: 'text/csv', expected_hash: hash })
    expect([status, body.upload_headers]).toEqual([200, { 'Content-Type': 'text/csv' }])
    expect(await rowOf('a')).toEqual({ ...before, upload_content_type: 'text/csv', upload_expected_hash: hash })
  })

  it('AMB-24 creating an existing name without expected hash clears the earlier one', async () => {
    await create({ filename: 'b', expected_hash: 'ab'.repeat(32) })
    await create({ filename: 'b' })
    expect(await rowOf('b')).toMatchObject({
      upload_expected_hash: null,
      upload_content_type: 'application/octet-stream',
    })
  })

  it('AMB-32 only a new name counts as a file and as a change of the manifest', async () => {
    const before = await lockerRow(house, locker)
    await create({ filename: 'counted' })
    await create({ filename: 'counted', content_type: 'text/html' })
    const after = await lockerRow(house, locker)
    expect([after.file_count - before.file_count, after.manifest_version - before.manifest_version]).toEqual([1, 1])
    expect(after.manifest_changed_at).toBe('2026-09-01T12:00:00Z')
  })
})

describe('the limit of creates', () => {
  it('LIM-11 each create counts against the limit of its signer, and a refused one creates nothing', async () => {
    const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '2' })
    try {
      const locker = await limited.locker(ed25519Identity())
      const create = (filename: string) => locker.call(['locker:write'], 'POST', '/files', { filename })
      expect([(await create('a')).status, (await create('b')).status]).toEqual([200, 200])
      const refused = await create('c')
      expectRefusal(refused, 429, 'RATE_LIMITED')
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await lockerRow(limited, locker)).file_count).toBe(2)
    } finally {
      await limited.close()
    }
  })
})
