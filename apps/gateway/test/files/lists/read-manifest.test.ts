import type { DownloadUrls } from '@svc/api/file-entries'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { insertFiles, storeFile } from '../files.ts'

interface Manifest {
  manifest_version: number
  updated_at: string
  file_count: number
  total_bytes: number
  files: { filename: string; provider: string; provider_ref: string | null }[]
  next_cursor?: string
}

let house: LockerHouse

beforeAll(async () => {
  house = await openLockerHouse()
})
afterAll(() => house.close())

const read = (locker: TestLocker, query = '') => locker.call<Manifest>(['locker:read'], 'GET', `/manifest${query}`)

it('FILE-18 SHAPE-22 FILE-33 the manifest of a new locker is empty and as old as the locker', async () => {
  const locker = await house.locker(ed25519Identity())
  house.clock.advance(3600)
  const { status, body } = await read(locker)
  expect(status).toBe(200)
  expect(body).toEqual({
    locker_id: locker.lockerId,
    receipt_id: locker.receiptId,
    manifest_version: 0,
    updated_at: '2026-09-01T12:00:00Z',
    file_count: 0,
    total_bytes: 0,
    files: [],
  })
})

it('FILE-18 FILE-19 AMB-32 the manifest shows each entry with its provider and counts the bytes of confirmed files', async () => {
  const locker = await house.locker(ed25519Identity(), { provider: 'storj' })
  await storeFile(house, locker, 'b', 'hello')
  await storeFile(house, locker, 'a', 'not confirmed', { isConfirmed: false })
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'c' })
  const { body } = await read(locker)
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
  expect(body.files.map(({ filename, provider, provider_ref }) => [filename, provider, provider_ref])).toEqual([
    ['a', 'storj', null],
    ['b', 'storj', null],
    ['c', 'storj', null],
  ])
})

it("FILE-19 the manifest shows the provider's reference of an object", async () => {
  const locker = await house.locker(ed25519Identity(), { provider: 'arweave' })
  await insertFiles(house, locker, ['a'], () => ({ object_id: '00'.repeat(16), provider_ref: 'tx-1' }))
  expect((await read(locker)).body.files[0]).toMatchObject({ provider: 'arweave', provider_ref: 'tx-1' })
})

it('FILE-17 FILE-19 the reference of a small object at filecoin is its content id, without what the driver appends', async () => {
  const locker = await house.locker(ed25519Identity(), { provider: 'filecoin' })
  const cid = 'bafkzcibcaebjsf7omg4a676gbacpzprz2kxovlr3nmb55s76fqehmtl2rk7lioy'
  await insertFiles(house, locker, ['a'], () => ({ object_id: '00'.repeat(16), provider_ref: `${cid}?size=5` }))
  expect((await read(locker)).body.files[0]).toMatchObject({ provider: 'filecoin', provider_ref: cid })
  const list = await locker.call<{ files: object[] }>(['locker:list'], 'GET', '/files')
  expect(list.body.files[0]).toMatchObject({ provider_ref: cid })
  const answers = [
    await locker.call<DownloadUrls>(['locker:read'], 'POST', '/files/urls', { filenames: ['a'] }),
    await locker.call<DownloadUrls>(['locker:read'], 'GET', '/urls'),
    await house.call<DownloadUrls>(locker.owner, {
      method: 'POST',
      path: '/v1/storage/refresh',
      body: { ttl_min: 1 },
      ops: ['locker:refresh'],
      lockerId: locker.lockerId,
    }),
  ]
  for (const { body } of answers) expect(body.urls[0]).toMatchObject({ provider_ref: cid })
})

it("FILE-18 each change increments the manifest's version and sets its time", async () => {
  const locker = await house.locker(ed25519Identity())
  const versions: number[] = []
  const note = async () => versions.push((await read(locker)).body.manifest_version)
  await note()
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'a' })
  await note()
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'a', content_type: 'text/html' })
  await note()
  house.clock.advance(60)
  await locker.call(['locker:write'], 'DELETE', '/files/a')
  await note()
  expect(versions).toEqual([0, 1, 1, 2])
  expect((await read(locker)).body.updated_at).toBe(new Date(house.clock.now()).toISOString().replace('.000Z', 'Z'))
})

it('FILE-18 the manifest comes in pages, each with the totals of the locker', async () => {
  const locker = await house.locker(ed25519Identity())
  await insertFiles(house, locker, ['a', 'b', 'c'])
  const { body: first } = await read(locker, '?limit=2')
  const { body: second } = await read(locker, `?limit=2&cursor=${first.next_cursor}`)
  expect([first.files.length, second.files.length, second.next_cursor]).toEqual([2, 1, undefined])
  expect([first.file_count, second.file_count, second.manifest_version]).toEqual([3, 3, 1])
  expect(second).not.toHaveProperty('changed_while_reading')
  const beyond = await read(locker, '?limit=2&cursor=eno')
  expect(beyond.body).toMatchObject({ files: [], file_count: 3 })
})

it('FILE-18 the manifest needs locker:read', async () => {
  const locker = await house.locker(ed25519Identity())
  expectRefusal(await locker.call(['locker:list', 'locker:write'], 'GET', '/manifest'), 403, 'MISSING_OPS')
})
