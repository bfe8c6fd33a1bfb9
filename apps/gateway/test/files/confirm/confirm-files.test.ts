import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  ed25519Identity,
  expectRefusal,
  type LockerHouse,
  openLockerHouse,
  type SignedCall,
  type TestLocker,
} from '../../auth/lockers.ts'
import { insertFiles, storeFile } from '../files.ts'
import { confirmBatch, type ErrorReply, entryOf, manifestOf, sha256, upload, watchedStorage } from './confirm.ts'

const PATH = '/v1/files/confirm-batch'
const storage = await watchedStorage()
let house: LockerHouse
let locker: TestLocker

beforeAll(async () => {
  house = await openLockerHouse({}, { providers: storage.providers })
})
afterAll(async () => {
  await house.close()
  await storage.remove()
})
beforeEach(async () => {
  locker = await house.locker(ed25519Identity())
  storage.reads.length = 0
})

function signed<Body = ConfirmedFiles>(filenames: unknown, changes: Partial<SignedCall> = {}) {
  const { owner, receiptId } = locker
  const body = { receipt_id: receiptId, filenames }
  return house.call<Body>(owner, { method: 'POST', path: PATH, body, ops: ['locker:write'], receiptId, ...changes })
}

describe('confirming many files', () => {
  it('FILE-25 SHAPE-24 STATE-07 a batch answers in order, and one failure does not fail the others', async () => {
    await upload(house, locker, 'b', 'bytes of b')
    await upload(house, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
    await upload(house, locker, 'a', 'a')
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
    const { status, headers, body } = await confirmBatch(house, locker, ['b', 'awaited', 'wrong', 'nothing', 'a'])
    expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
    const failed = (filename: string, error: string) => ({ filename, ok: false, error, message: expect.any(String) })
    expect(body).toEqual({
      receipt_id: locker.receiptId,
      locker_id: locker.lockerId,
      results: [
        { filename: 'b', ok: true, size_bytes: 10, content_hash: sha256('bytes of b') },
        failed('awaited', 'CONTENT_NOT_FOUND'),
        failed('wrong', 'HASH_MISMATCH'),
        failed('nothing', 'FILE_NOT_FOUND'),
        { filename: 'a', ok: true, size_bytes: 1, content_hash: sha256('a') },
      ],
      summary: { total: 5, confirmed: 2, failed: 3 },
      reattest: 'off',
    })
    expect(await entryOf(locker, 'b')).toMatchObject({
      status: 'confirmed',
      size_bytes: 10,
      content_hash: sha256('bytes of b'),
      hash_recorded_at: '2026-09-01T12:00:00Z',
    })
    expect(await entryOf(locker, 'wrong')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
  })

  it('FILE-25 a batch changes the manifest once', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `f${i}`)
    for (const name of names) await storeFile(house, locker, name, name, { isConfirmed: false })
    const before = await manifestOf(locker)
    expect((await confirmBatch(house, locker, names)).body.summary).toEqual({ total: 20, confirmed: 20, failed: 0 })
    const after = await manifestOf(locker)
    expect(after.manifest_version).toBe(before.manifest_version + 1)
    expect(after.total_bytes).toBe(names.join('').length)
  })

  it('FILE-25 STATE-08 a batch in which nothing can be confirmed changes nothing', async () => {
    await upload(house, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
    const before = await manifestOf(locker)
    const { body } = await confirmBatch(house, locker, ['wrong', 'nothing'])
    expect(body.summary).toEqual({ total: 2, confirmed: 0, failed: 2 })
    expect(body.results.map((result) => !result.ok && result.error)).toEqual(['HASH_MISMATCH', 'FILE_NOT_FOUND'])
    expect(await manifestOf(locker)).toEqual(before)
  })

  it('FILE-25 T-10 a repeated name is confirmed once and answered each time', async () => {
    await upload(house, locker, 'f', 'bytes')
    const { body } = await confirmBatch(house, locker, ['f', 'g', 'f'])
    expect(body.results.map(({ filename, ok }) => [filename, ok])).toEqual([
      ['f', true],
      ['g', false],
      ['f', true],
    ])
    expect(body.summary).toEqual({ total: 3, confirmed: 2, failed: 1 })
    expect(storage.reads).toHaveLength(1)
    expect((await manifestOf(locker)).total_bytes).toBe(5)
  })

  it('T-31 a provider error fails only the file it concerns', async () => {
    await upload(house, locker, 'f', 'bytes')
    await upload(house, locker, 'g', 'bytes')
    storage.failRead()
    const { body } = await confirmBatch(house, locker, ['f', 'g'])
    expect(body.summary).toEqual({ total: 2, confirmed: 1, failed: 1 })
    expect(body.results).toContainEqual(expect.objectContaining({ ok: false, error: 'STORAGE_UNAVAILABLE' }))
  })

  it('AMB-47 a batch takes 1,000 names of any kind, and refuses one more', async () => {
    const names = Array.from({ length: 1000 }, (_, i) => (i < 900 ? `file ${i}` : '\u{1F980}'.repeat(100 - (i % 100))))
    await insertFiles(house, locker, [...new Set(names)])
    await storeFile(house, locker, 'file 7', 'bytes', { isConfirmed: false })
    const { body } = await signed(names)
    expect(body.summary).toEqual({ total: 1000, confirmed: 1, failed: 999 })
    expect(body.results.map(({ filename }) => filename)).toEqual(names)
    expectRefusal(await signed([...names, 'one more']), 422, 'validation_error')
  })
})

describe('the forms of a batch request', () => {
  it('AMB-05 a batch takes a single name by query', async () => {
    await upload(house, locker, 'f', 'bytes')
    expect((await confirmBatch(house, locker, ['f'])).body.summary.confirmed).toBe(1)
  })

  it('FILE-25 ERR-24 a batch names the fields that are missing or wrong', async () => {
    const locs = async (answer: Promise<{ status: number; body: ErrorReply }>) => {
      const { status, body } = await answer
      return [status, ...body.detail.map(({ loc }) => loc.join('.'))]
    }
    const { receiptId } = locker
    expect(await locs(house.send('POST', PATH))).toEqual([422, 'query.receipt_id', 'query.filenames'])
    expect(await locs(house.send('POST', `${PATH}?receipt_id=${receiptId}`))).toEqual([422, 'query.filenames'])
    expect(await locs(house.send('POST', `${PATH}?filenames=a`))).toEqual([422, 'query.receipt_id'])
    expect(await locs(signed([]))).toEqual([422, 'body.filenames'])
    expect(await locs(signed('a'))).toEqual([422, 'body.filenames'])
    expect(await locs(signed(['a', 7]))).toEqual([422, 'body.filenames.1'])
  })

  it('AMB-05 ENV-19 a batch needs an envelope for a body, and the same names in query and body', async () => {
    const path = `${PATH}?receipt_id=${locker.receiptId}&filenames=a&filenames=b`
    const body = { receipt_id: locker.receiptId, filenames: ['a', 'b'] }
    const unsigned = await house.send<ErrorReply>('POST', PATH, body)
    expectRefusal(unsigned, 422, 'validation_error')
    expect(unsigned.body.detail[0]?.loc).toEqual(['header', 'X-Svc-Envelope'])
    const turned = await house.send<ErrorReply>('POST', path, { filenames: ['b', 'a'] })
    expectRefusal(turned, 422, 'validation_error')
    expect(turned.body.detail[0]?.loc).toEqual(['body', 'filenames'])
    expect((await house.send('POST', path, body)).status).toBe(200)
  })

  it('AMB-05 a batch refuses an envelope of another receipt, of a stranger, or without locker:write', async () => {
    const other = await house.receipt(locker.owner)
    expectRefusal(await signed(['f'], { receiptId: other }), 401, 'RECEIPT_ID_MISMATCH')
    expectRefusal(await signed(['f'], { ops: ['locker:list'] }), 403, 'MISSING_OPS')
    const call = { method: 'POST', path: PATH, body: { receipt_id: locker.receiptId, filenames: ['f'] } }
    const stranger = { ...call, ops: ['locker:write'], receiptId: locker.receiptId }
    expectRefusal(await house.call(ed25519Identity(), stranger), 403, 'SIGNATURE_INVALID')
  })

  it('ERR-18 a batch answers 404 for an unknown receipt and for one without a locker', async () => {
    expectRefusal(await confirmBatch(house, { receiptId: 'rcpt_none' }, ['f']), 404, 'receipt_not_found')
    const receiptId = await house.receipt(ed25519Identity())
    expectRefusal(await confirmBatch(house, { receiptId }, ['f']), 404, 'locker_not_found')
  })
})
