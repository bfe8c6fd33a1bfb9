import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { lockerRow, storeFile } from './files.ts'

interface UrlSets {
  files: { filename: string; upload_headers: Record<string, string>; upload_url: string }[]
  count: number
}

const house = forAllTests(openTestGateway)
const locker = forEachTest(() => house.locker(ed25519Identity()))

const create = (body: unknown) => locker.call<UrlSets>(['locker:write'], 'POST', '/files/batch', body)

it('FILE-12 SHAPE-20 batch create answers the URLs of each file in order, with its own type', async () => {
  const files = [{ filename: 'z.csv', content_type: 'text/csv' }, { filename: 'a/b' }, {}]
  const { status, body } = await create({ files, ttl_min: 5 })
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
  await storeFile(house, locker, 'kept', 'bytes')
  const before = await lockerRow(house, locker)
  const names = ['new-1', 'kept', 'new-2'].map((filename) => ({ filename }))
  for (const _ of ['once', 'twice']) {
    expect((await create({ files: names })).status).toBe(200)
    const changed = { file_count: before.file_count + 2, manifest_version: before.manifest_version + 1 }
    expect(await lockerRow(house, locker)).toMatchObject(changed)
  }
})

it.each([
  ['a name', 'filename', 'a:b'],
  ['a name that comes twice', 'filename', 'good'],
  ['a type', 'content_type', 'nothing'],
])('SHAPE-20 batch create refuses all for %s, and says which', async (_, field, value) => {
  const reply = await create({ files: [{ filename: 'good' }, { [field]: value }, { filename: 'good too' }] })
  expectRefusal(reply, 422, 'validation_error')
  expect(reply.body).toMatchObject({ detail: [{ loc: ['body', 'files', 1, field] }] })
  expect(await lockerRow(house, locker)).toMatchObject({ file_count: 0, manifest_version: 0 })
})

it('SHAPE-20 batch create lists many invalid files, up to a limit', async () => {
  const reply = await create({ files: Array.from({ length: 1000 }, () => ({ filename: 'a:b' })) })
  const { detail } = reply.body as unknown as { detail: { loc: unknown[] }[] }
  expect([detail.length, detail[0]?.loc]).toEqual([20, ['body', 'files', 0, 'filename']])
})

it('AMB-47 LIM-12 batch create takes 1,000 files at once and no more', async () => {
  const many = (count: number) => ({ files: Array.from({ length: count }, (_, i) => ({ filename: `many/${i}` })) })
  expectRefusal(await create(many(1001)), 422, 'validation_error')
  const { status, body } = await create(many(1000))
  expect([status, body.count, new Set(body.files.map(({ upload_url }) => upload_url)).size]).toEqual([200, 1000, 1000])
  expect((await lockerRow(house, locker)).file_count).toBe(1000)
})

const BAD = [{ files: [] }, { files: [null] }, { files: [{}], ttl_min: 0 }]
it.each(BAD)('FILE-10 FILE-12 batch create refuses %j', async (body) => {
  expectRefusal(await create(body), 422, 'validation_error')
})
