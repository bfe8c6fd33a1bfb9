import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findFile } from '../../../src/files/store.ts'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type TestLocker,
} from '../../auth/lockers.ts'
import { storeFile } from '../files.ts'
import { confirm, type ErrorReply, entryOf, manifestOf, sha256, upload, watchedStorage } from './confirm.ts'

const storage = await watchedStorage()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({}, { providers: storage.providers })
  locker = await house.locker(ed25519Identity())
})
afterAll(async () => {
  await house.close()
  await storage.remove()
})

const objectOf = async (filename: string) => {
  const file = await findFile(house.gateway.context.database.db, locker.lockerId, filename)
  return { id: file!.object_id!, ref: null }
}

describe('confirming a file', () => {
  it('FILE-20 FILE-22 STATE-07 SHAPE-26 AMB-70 confirming a file hashes its bytes and records size and hash', async () => {
    await upload(house, locker, 'a.txt', 'hello\n')
    const before = await manifestOf(locker)
    house.clock.advance(5)
    const { status, headers, body } = await confirm(house, locker, 'a.txt')
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    const recorded = { size_bytes: 6, content_hash: sha256('hello\n'), hash_recorded_at: '2026-09-01T12:00:05Z' }
    const ids = { receipt_id: locker.receiptId, locker_id: locker.lockerId }
    expect(body).toEqual({ ok: true, ...ids, filename: 'a.txt', ...recorded })
    expect(await entryOf(locker, 'a.txt')).toMatchObject({
      ...recorded,
      status: 'confirmed',
      uploaded_at: '2026-09-01T12:00:00Z',
    })
    const after = await manifestOf(locker)
    expect(after.manifest_version).toBe(before.manifest_version + 1)
    expect(after.total_bytes).toBe(before.total_bytes + 6)
    expect(after.updated_at).toBe('2026-09-01T12:00:05Z')
  })

  it('FILE-22 confirming records an empty file', async () => {
    await upload(house, locker, 'empty', '')
    expect((await confirm(house, locker, 'empty')).body).toMatchObject({ size_bytes: 0, content_hash: sha256('') })
  })

  it('FILE-22 confirming hashes all of a file that is read in many pieces', async () => {
    const bytes = Buffer.alloc(3_000_001, 'piece by piece ')
    await upload(house, locker, 'large', bytes)
    const { body } = await confirm(house, locker, 'large')
    expect(body).toMatchObject({ size_bytes: 3_000_001, content_hash: sha256(bytes) })
  })

  it('AMB-58 T-10 confirming a confirmed file answers the same without reading it', async () => {
    await upload(house, locker, 'twice', 'once')
    const first = await confirm(house, locker, 'twice')
    const manifest = await manifestOf(locker)
    const reads = storage.reads.length
    house.clock.advance(60)
    expect((await confirm(house, locker, 'twice')).body).toEqual(first.body)
    expect(storage.reads).toHaveLength(reads)
    expect((await manifestOf(locker)).manifest_version).toBe(manifest.manifest_version)
  })

  it('AMB-24 an upload clears the hash of the old bytes, and confirming records that of the new ones', async () => {
    await upload(house, locker, 'again', 'old')
    await confirm(house, locker, 'again')
    await upload(house, locker, 'again', 'newer')
    expect(await entryOf(locker, 'again')).toMatchObject({ content_hash: null, status: 'awaiting_bytes' })
    const { body } = await confirm(house, locker, 'again')
    expect(body).toMatchObject({ size_bytes: 5, content_hash: sha256('newer') })
  })

  it('T-06 confirming takes names as they are', async () => {
    const names = ['__proto__', 'constructor', 'caf\u00e9', 'cafe\u0301', 'docs/a b&c=d?e#f%20+.txt', '\u{1F980}']
    for (const name of names) await storeFile(house, locker, name, `bytes of ${name}`, { isConfirmed: false })
    for (const name of names) {
      const { body } = await confirm(house, locker, name)
      expect(body).toMatchObject({ filename: name, content_hash: sha256(`bytes of ${name}`) })
    }
  })
})

describe('confirming with an expected hash', () => {
  it('FILE-23 STATE-08 ERR-21 ERR-29 a hash other than the expected one answers 409 and changes nothing', async () => {
    await upload(house, locker, 'promised', 'wrong', { expected_hash: sha256('right') })
    const [entry, manifest] = [await entryOf(locker, 'promised'), await manifestOf(locker)]
    const refused = await confirm<ErrorReply>(house, locker, 'promised')
    expectRefusal(refused, 409, 'HASH_MISMATCH')
    expect(refused.body.details).toEqual({
      layer: 'provider',
      recovery_hint: expect.any(String),
      next_best_method: 'PUT upload_url',
      filename: 'promised',
      expected: sha256('right'),
      actual: sha256('wrong'),
    })
    expect(await entryOf(locker, 'promised')).toEqual(entry)
    expect(await manifestOf(locker)).toEqual(manifest)
  })

  it('T-10 a repeated confirmation with the wrong hash does not read the bytes again', async () => {
    await upload(house, locker, 'asked', 'wrong', { expected_hash: sha256('right') })
    await confirm(house, locker, 'asked')
    const reads = storage.reads.length
    for (let i = 0; i < 3; i++) expectRefusal(await confirm(house, locker, 'asked'), 409, 'HASH_MISMATCH')
    expect(storage.reads).toHaveLength(reads)
  })

  it('FILE-23 AMB-73 the right bytes, uploaded after the wrong ones, meet the expected hash', async () => {
    const expected_hash = sha256('right').toUpperCase().replace('SHA256:', '')
    await upload(house, locker, 'better', 'wrong', { expected_hash })
    expectRefusal(await confirm(house, locker, 'better'), 409, 'HASH_MISMATCH')
    await upload(house, locker, 'better', 'right', { expected_hash })
    expect((await confirm(house, locker, 'better')).body).toMatchObject({ ok: true, content_hash: sha256('right') })
  })

  it('AMB-24 an expected hash applies from the next upload on, not to the current bytes', async () => {
    await upload(house, locker, 'before', 'bytes')
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'before', expected_hash: sha256('others') })
    expect((await confirm(house, locker, 'before')).status).toBe(200)
  })
})

describe('confirming what does not exist', () => {
  const expectHelp = ({ body }: { body: ErrorReply }) =>
    expect(body.details).toMatchObject({
      layer: expect.stringMatching(/^(gateway|provider)$/),
      recovery_hint: expect.any(String),
      next_best_method: expect.any(String),
    })

  it('ERR-18 FILE-31 confirming with an unknown receipt answers 404', async () => {
    for (const receiptId of [`rcpt_${'0'.repeat(32)}`, '', 'x'.repeat(5000), "'; drop table files"]) {
      const refused = await confirm<ErrorReply>(house, { receiptId }, 'a.txt')
      expectRefusal(refused, 404, 'receipt_not_found')
      expectHelp(refused)
    }
  })

  it('FILE-31 confirming for a receipt without locker answers 404, by query and signed', async () => {
    const owner = ed25519Identity()
    const receiptId = await house.receipt(owner)
    const refused = await confirm<ErrorReply>(house, { receiptId }, 'a.txt')
    expectRefusal(refused, 404, 'locker_not_found')
    expectHelp(refused)
    const body = { receipt_id: receiptId, filename: 'a.txt' }
    const call = { method: 'POST', path: '/v1/files/confirm', body, ops: ['locker:write'], receiptId }
    expectRefusal(await house.call(owner, call), 404, 'locker_not_found')
  })

  it('FILE-31 confirming an unknown name answers 404', async () => {
    for (const filename of ['unknown', '', '../a.txt', 'A.TXT', 'x'.repeat(5000)]) {
      const refused = await confirm<ErrorReply>(house, locker, filename)
      expectRefusal(refused, 404, 'FILE_NOT_FOUND')
      expectHelp(refused)
    }
  })

  it('FILE-24 ERR-17 AMB-07 FILE-31 confirming a file that was never uploaded answers 404', async () => {
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
    const refused = await confirm<ErrorReply>(house, locker, 'awaited')
    expectRefusal(refused, 404, 'CONTENT_NOT_FOUND')
    expectHelp(refused)
    expect(refused.body.details.next_best_method).toBe(`POST /v1/lockers/${locker.lockerId}/files`)
  })

  it('FILE-24 ERR-17 confirming bytes that the provider lost answers 404 and records nothing', async () => {
    await upload(house, locker, 'lost', 'bytes')
    await storage.providers.named('gcs').remove(await objectOf('lost'))
    expectRefusal(await confirm(house, locker, 'lost'), 404, 'CONTENT_NOT_FOUND')
    expect(await entryOf(locker, 'lost')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
  })

  it('AMB-58 a confirmed file whose bytes are lost still answers what was recorded', async () => {
    await upload(house, locker, 'gone', 'bytes')
    const first = await confirm(house, locker, 'gone')
    await storage.providers.named('gcs').remove(await objectOf('gone'))
    expect((await confirm(house, locker, 'gone')).body).toEqual(first.body)
  })

  it('T-31 FILE-31 a provider error answers 503 without its details, and the next attempt works', async () => {
    await upload(house, locker, 'patience', 'bytes')
    storage.failRead()
    const refused = await confirm<ErrorReply>(house, locker, 'patience')
    expectRefusal(refused, 503, 'STORAGE_UNAVAILABLE')
    expectHelp(refused)
    expect(refused.headers.get('retry-after')).toBe('30')
    expect(JSON.stringify(refused.body)).not.toContain('walk')
    expect((await confirm(house, locker, 'patience')).status).toBe(200)
  })
})
