import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type SignedCall } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { insertFiles, storeFile } from '../files.ts'
import { confirmBatch, type ErrorReply, entryOf, manifestOf, sha256, upload, watchedStorage } from './confirm.ts'

const PATH = '/v1/files/confirm-batch'
const storage = forAllTests(watchedStorage)
const house = forAllTests(() => openTestGateway({}, { providers: storage.providers }))
const locker = forEachTest(() => house.locker(ed25519Identity()))

function signed<Body = ConfirmedFiles>(filenames: unknown, changes: Partial<SignedCall> = {}, who = locker.owner) {
  const { receiptId } = locker
  const body = { receipt_id: receiptId, filenames }
  return house.call<Body>(who, { method: 'POST', path: PATH, body, ops: ['locker:write'], receiptId, ...changes })
}

it('FILE-25 SHAPE-24 STATE-07 a batch answers in order, and one failure does not fail the others', async () => {
  await upload(house, locker, 'b', 'bytes of b')
  await upload(house, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
  await upload(house, locker, 'a', 'a')
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
  const { status, headers, body } = await confirmBatch(house, locker, ['b', 'awaited', 'wrong', 'nothing', 'a'])
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const failed = (filename: string, error: string) => ({ filename, ok: false, error, message: expect.any(String) })
  const [recordedA, recordedB] = [
    { size_bytes: 1, content_hash: sha256('a') },
    { size_bytes: 10, content_hash: sha256('bytes of b') },
  ]
  expect(body).toEqual({
    receipt_id: locker.receiptId,
    locker_id: locker.lockerId,
    results: [
      { filename: 'b', ok: true, ...recordedB },
      failed('awaited', 'CONTENT_NOT_FOUND'),
      failed('wrong', 'HASH_MISMATCH'),
      failed('nothing', 'FILE_NOT_FOUND'),
      { filename: 'a', ok: true, ...recordedA },
    ],
    summary: { total: 5, confirmed: 2, failed: 3 },
    reattest: 'off',
  })
  const recorded = { ...recordedB, status: 'confirmed', hash_recorded_at: '2026-09-01T12:00:00Z' }
  expect(await entryOf(locker, 'b')).toMatchObject(recorded)
  expect(await entryOf(locker, 'wrong')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
})

it('FILE-25 STATE-08 a batch changes the manifest once, and not if nothing can be confirmed', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `f${i}`)
  for (const name of names) await storeFile(house, locker, name, name, { isConfirmed: false })
  await upload(house, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
  const before = await manifestOf(locker)
  const failed = await confirmBatch(house, locker, ['wrong', 'nothing'])
  expect(failed.body.summary).toEqual({ total: 2, confirmed: 0, failed: 2 })
  expect(await manifestOf(locker)).toEqual(before)
  expect((await confirmBatch(house, locker, names)).body.summary).toEqual({ total: 20, confirmed: 20, failed: 0 })
  const changed = { manifest_version: before.manifest_version + 1, total_bytes: names.join('').length }
  expect(await manifestOf(locker)).toMatchObject(changed)
})

it('FILE-25 T-10 a repeated name is confirmed once and answered each time', async () => {
  await upload(house, locker, 'f', 'bytes')
  const reads = storage.reads.length
  const { body } = await confirmBatch(house, locker, ['f', 'g', 'f'])
  expect(body.results.map(({ filename, ok }) => `${filename} ${ok}`)).toEqual(['f true', 'g false', 'f true'])
  expect(body.summary).toEqual({ total: 3, confirmed: 2, failed: 1 })
  expect(storage.reads).toHaveLength(reads + 1)
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

it('FILE-25 ERR-24 AMB-05 ENV-19 a batch names the fields that are missing, wrong or differ', async () => {
  const locs = async (answer: Promise<{ status: number; body: ErrorReply }>) => {
    const { status, body } = await answer
    return [status, ...body.detail.map(({ loc }) => loc.join('.'))]
  }
  const receipt_id = locker.receiptId
  const both = `${PATH}?receipt_id=${receipt_id}&filenames=a&filenames=b`
  expect(await locs(house.send('POST', PATH))).toEqual([422, 'query.receipt_id', 'query.filenames'])
  expect(await locs(signed('a'))).toEqual([422, 'body.filenames'])
  expect(await locs(signed(['a', 7]))).toEqual([422, 'body.filenames.1'])
  expect(await locs(house.send('POST', both, { filenames: ['b', 'a'] }))).toEqual([422, 'body.filenames'])
  const unsigned = house.send<ErrorReply>('POST', PATH, { receipt_id, filenames: ['a', 'b'] })
  expect(await locs(unsigned)).toEqual([422, 'header.X-Svc-Envelope', 'header.X-Svc-Signature'])
  expect((await house.send('POST', both, { receipt_id, filenames: ['a', 'b'] })).status).toBe(200)
})

it('AMB-05 a batch refuses an envelope of another receipt, of a stranger, or without locker:write', async () => {
  const other = await house.receipt(locker.owner)
  expectRefusal(await signed(['f'], { receiptId: other }), 401, 'RECEIPT_ID_MISMATCH')
  expectRefusal(await signed(['f'], { ops: ['locker:list'] }), 403, 'MISSING_OPS')
  expectRefusal(await signed(['f'], {}, ed25519Identity()), 403, 'SIGNATURE_INVALID')
})
