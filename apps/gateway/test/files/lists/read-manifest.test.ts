import type { DownloadUrls } from '@svc/api/file-entries'
import type { Manifest } from '@svc/api/files'
import { forAllTests } from '@svc/devnet/for-tests'
import { isoSeconds } from '@svc/protocol/evidence'
import { ed25519Identity, openTestGateway, type TestLocker } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { insertFiles, storeFile } from '../files.ts'

const house = forAllTests(openTestGateway)
const newLocker = (provider = 'gcs') => house.locker(ed25519Identity(), { provider })
const read = async (locker: TestLocker, query = '') =>
  (await locker.call<Manifest>(['locker:read'], 'GET', `/manifest${query}`)).body
const now = () => isoSeconds(house.clock.now() / 1000)

it('FILE-18 SHAPE-22 FILE-33 the manifest of a new locker is empty and as old as the locker', async () => {
  const locker = await newLocker()
  const openedAt = now()
  house.clock.advance(3600)
  const ids = { locker_id: locker.lockerId, receipt_id: locker.receiptId }
  const facts = { manifest_version: 0, updated_at: openedAt, file_count: 0, total_bytes: 0, files: [] }
  expect(await read(locker)).toEqual({ ...ids, ...facts })
})

it('FILE-18 FILE-19 AMB-32 the manifest shows each entry with its provider and counts the bytes of confirmed files', async () => {
  const locker = await newLocker('storj')
  await storeFile(house, locker, 'b', 'hello')
  await storeFile(house, locker, 'a', 'not confirmed', { isConfirmed: false })
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
])('FILE-17 FILE-19 the reference of an object at %s is shown, without what the driver appends', async (...row) => {
  const [provider, provider_ref, shown] = row
  const locker = await newLocker(provider)
  await insertFiles(house, locker, ['a'], () => ({ object_id: '00'.repeat(16), provider_ref }))
  expect((await read(locker)).files[0]).toMatchObject({ provider, provider_ref: shown })
  const list = await locker.call<{ files: object[] }>(['locker:list'], 'GET', '/files')
  expect(list.body.files[0]).toMatchObject({ provider_ref: shown })
  const refresh = { method: 'POST', path: '/v1/storage/refresh', body: { ttl_min: 1 }, ops: ['locker:refresh'] }
  const answers = [
    await locker.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', { filenames: ['a'] }),
    await locker.call<DownloadUrls>(['locker:read'], 'GET', '/urls'),
    await house.call<DownloadUrls>(locker.owner, { ...refresh, lockerId: locker.lockerId }),
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
  house.clock.advance(60)
  await locker.call(['locker:write'], 'DELETE', '/files/a')
  const { manifest_version, updated_at } = await read(locker)
  expect([...versions, manifest_version, updated_at]).toEqual([0, 1, 1, 2, now()])
})

it('FILE-18 the manifest comes in pages, each with the totals of the locker', async () => {
  const locker = await newLocker()
  await insertFiles(house, locker, ['a', 'b', 'c'])
  const first = await read(locker, '?limit=2')
  const second = await read(locker, `?limit=2&cursor=${first.next_cursor}`)
  expect([first.files.length, second.files.length, second.next_cursor]).toEqual([2, 1, undefined])
  expect([first.file_count, second.file_count, second.manifest_version]).toEqual([3, 3, 1])
  expect(second).not.toHaveProperty('changed_while_reading')
  expect(await read(locker, '?limit=2&cursor=eno')).toMatchObject({ files: [], file_count: 3 })
})
