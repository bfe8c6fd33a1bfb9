import { afterAll, beforeAll, expect, it } from 'vitest'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { lockerRow, storeFile } from './files.ts'

interface UrlSets {
  files: {
    filename: string
    content_type: string
    upload_headers: Record<string, string>
    upload_url: string
    urls_expire_in_sec: number
  }[]
  count: number
  urls_expire_in_sec: number
}

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({ BASE_URL: 'https://storage.example/svc' })
  locker = await house.locker(ed25519Identity())
})
afterAll(() => house.close())

const create = (body: unknown) => locker.call<UrlSets>(['locker:write'], 'POST', '/files/batch', body)
const stateOf = async () => {
  const { file_count, manifest_version } = await lockerRow(house, locker)
  return { file_count, manifest_version }
}

it('FILE-12 SHAPE-20 batch create answers the URLs of each file in order, with its own type', async () => {
  const files = [{ filename: 'z.csv', content_type: 'text/csv' }, { filename: 'a/b' }, {}]
  const { status, body } = await create({ files, ttl_min: 5 })
  expect(status).toBe(200)
  expect(body).toMatchObject({ locker_id: locker.lockerId, count: 3, urls_expire_in_sec: 300 })
  expect(body.files.map(({ content_type, upload_headers }) => [content_type, upload_headers['Content-Type']])).toEqual([
    ['text/csv', 'text/csv'],
    ['application/octet-stream', 'application/octet-stream'],
    ['application/octet-stream', 'application/octet-stream'],
  ])
  expect(body.files.map(({ filename }) => filename)).toEqual([
    'z.csv',
    'a/b',
    expect.stringMatching(/^file_[0-9a-f]{16}$/),
  ])
  expect(Object.keys(body.files[0] ?? {}).sort()).toEqual([
    'content_type',
    'delete_url',
    'download_url',
    'filename',
    'upload_headers',
    'upload_url',
    'urls_expire_in_sec',
  ])
  expect(body.files.every(({ urls_expire_in_sec }) => urls_expire_in_sec === 300)).toBe(true)
})

it('FILE-12 batch create changes the manifest once and counts only new names', async () => {
  await storeFile(house, locker, 'kept', 'bytes')
  const before = await stateOf()
  const { status } = await create({ files: [{ filename: 'new-1' }, { filename: 'kept' }, { filename: 'new-2' }] })
  expect(status).toBe(200)
  expect(await stateOf()).toEqual({
    file_count: before.file_count + 2,
    manifest_version: before.manifest_version + 1,
  })
})

it('FILE-12 batch create of existing names does not change the manifest', async () => {
  await create({ files: [{ filename: 'again' }] })
  const before = await stateOf()
  expect((await create({ files: [{ filename: 'again', content_type: 'text/html' }] })).status).toBe(200)
  expect(await stateOf()).toEqual(before)
})

it.each([
  ['a name', { filename: 'a:b' }, ['body', 'files', 1, 'filename']],
  ['an empty name', { filename: '' }, ['body', 'files', 1, 'filename']],
  ['a name that comes twice', { filename: 'good' }, ['body', 'files', 1, 'filename']],
  ['a type', { content_type: 'nothing' }, ['body', 'files', 1, 'content_type']],
  ['a hash', { expected_hash: 'nothing' }, ['body', 'files', 1, 'expected_hash']],
  ['a name that is no text', { filename: 7 }, ['body', 'files', 1, 'filename']],
])('SHAPE-20 refuses all for %s, and says which', async (_, bad, loc) => {
  const before = await stateOf()
  const reply = await create({ files: [{ filename: 'good' }, bad, { filename: 'good too' }] })
  expectRefusal(reply, 422, 'validation_error')
  expect(reply.body).toMatchObject({ detail: [{ loc }] })
  expect(await stateOf()).toEqual(before)
})

it('SHAPE-20 batch create lists many invalid files, up to a limit', async () => {
  const reply = await create({ files: Array.from({ length: 1000 }, () => ({ filename: 'a:b' })) })
  const { detail } = reply.body as unknown as { detail: { loc: unknown[] }[] }
  expect([detail.length, detail[0]?.loc]).toEqual([20, ['body', 'files', 0, 'filename']])
})

it('T-06 batch create keeps look-alike names and names of object members apart', async () => {
  const names = ['\u00e9', 'e\u0301', '__proto__', 'constructor', 'A', 'a']
  const { status, body } = await create({ files: names.map((filename) => ({ filename })) })
  expect([status, body.count]).toEqual([200, 6])
})

it('AMB-47 LIM-12 batch create takes 1,000 files at once and no more', async () => {
  const many = (count: number) => ({ files: Array.from({ length: count }, (_, i) => ({ filename: `many/${i}` })) })
  expectRefusal(await create(many(1001)), 422, 'validation_error')
  const before = await stateOf()
  const { status, body } = await create(many(1000))
  expect([status, body.count, new Set(body.files.map(({ upload_url }) => upload_url)).size]).toEqual([200, 1000, 1000])
  expect((await stateOf()).file_count).toBe(before.file_count + 1000)
})

it.each([{}, { files: [] }, { files: {} }, { files: [null] }, { files: ['a'] }, { files: [{}], ttl_min: 0 }])(
  'FILE-10 FILE-12 batch create refuses %j',
  async (body) => {
    expectRefusal(await create(body), 422, 'validation_error')
  },
)

it('LIM-11 a batch create counts once against the limit, and a rename counts, too', async () => {
  const limited = await openLockerHouse({ RATE_LIMIT_SIGNER: '1' })
  try {
    const locker = await limited.locker(ed25519Identity())
    const files = Array.from({ length: 50 }, (_, i) => ({ filename: `${i}` }))
    const create = () => locker.call(['locker:write'], 'POST', '/files/batch', { files })
    expect((await create()).status).toBe(200)
    expectRefusal(await create(), 429, 'RATE_LIMITED')
    const renames = { files: [{ filename: '0', new_filename: 'new' }] }
    expectRefusal(await locker.call(['locker:write'], 'POST', '/files/rename', renames), 429, 'RATE_LIMITED')
  } finally {
    await limited.close()
  }
})
