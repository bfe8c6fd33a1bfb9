import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFile } from '../../src/files/store.ts'
import { ed25519Identity, expectRefusal, type LockerHouse, openLockerHouse, type TestLocker } from '../auth/lockers.ts'
import { lockerRow, storeFile } from './files.ts'

let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse()
  locker = await house.locker(ed25519Identity())
})
afterAll(() => house.close())

const create = (body: unknown) =>
  locker.call<{ upload_headers: Record<string, string> }>(['locker:write'], 'POST', '/files', body)
const rowOf = (filename: string) => findFile(house.gateway.context.database.db, locker.lockerId, filename)

describe('naming a file that is there', () => {
  it('AMB-24 keeps its bytes, hash and type, and locks the new type for the next upload', async () => {
    const before = await storeFile(house, locker, 'a', 'hello')
    const hash = `sha256:${'cd'.repeat(32)}`
    const { status, body } = await create({ filename: 'a', content_type: 'text/csv', expected_hash: hash })
    expect([status, body.upload_headers]).toEqual([200, { 'Content-Type': 'text/csv' }])
    expect(await rowOf('a')).toEqual({ ...before, upload_content_type: 'text/csv', upload_expected_hash: hash })
  })

  it('AMB-24 forgets a promised hash when the next create promises none', async () => {
    await create({ filename: 'b', expected_hash: 'ab'.repeat(32) })
    await create({ filename: 'b' })
    expect(await rowOf('b')).toMatchObject({
      upload_expected_hash: null,
      upload_content_type: 'application/octet-stream',
    })
  })

  it('AMB-32 counts a name once, and only a new one as a change of the manifest', async () => {
    const before = await lockerRow(house, locker)
    await create({ filename: 'counted' })
    await create({ filename: 'counted', content_type: 'text/html' })
    const after = await lockerRow(house, locker)
    expect([after.file_count - before.file_count, after.manifest_version - before.manifest_version]).toEqual([1, 1])
    expect(after.manifest_changed_at).toBe('2026-09-01T12:00:00Z')
  })
})

describe('limits', () => {
  it('LIM-11 counts each create against the limit of its signer, and refuses without making anything', async () => {
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
