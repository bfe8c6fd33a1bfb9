import type { ConfirmedFiles } from '@svc/api/confirm-files'
import type { ErrorBody } from '@svc/api/errors'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type SignedCall } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { rowOf } from '../../adapters/http/transfers.ts'
import { insertFiles, storeFile } from '../files.ts'
import {
  confirm,
  confirmBatch,
  type ErrorReply,
  entryOf,
  manifestOf,
  sha256,
  upload,
  watchedStorage,
} from './confirm.ts'

const storage = forAllTests(watchedStorage)
const instance = forAllTests(() => openTestGateway({}, { providers: storage.providers }))
const locker = forEachTest(() => instance.locker(ed25519Identity()))

const create = (filename: string, more = {}) =>
  locker.call(['locker:write'], 'POST', '/files', { filename, content_type: 'text/plain', ...more })

it('FILE-20 AMB-70 confirming a file hashes its bytes and records size and hash', async () => {
  await upload(instance, locker, 'a.txt', 'hello\n')
  const before = await manifestOf(locker)
  const { uploaded_at } = (await entryOf(locker, 'a.txt'))!
  instance.clock.advance(5)
  const now = new Date(instance.clock.now()).toISOString().replace('.000', '')
  const { status, headers, body } = await confirm(instance, locker, 'a.txt')
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const recorded = { size_bytes: 6, content_hash: sha256('hello\n'), hash_recorded_at: now }
  const ids = { receipt_id: locker.receiptId, locker_id: locker.lockerId }
  expect(body).toEqual({ ok: true, ...ids, filename: 'a.txt', ...recorded })
  expect(await entryOf(locker, 'a.txt')).toMatchObject({ ...recorded, status: 'confirmed', uploaded_at })
  const changed = { manifest_version: before.manifest_version + 1, total_bytes: 6, updated_at: now }
  expect(await manifestOf(locker)).toMatchObject(changed)
})

it('FILE-22 T-10 confirming a confirmed file answers the same without reading it', async () => {
  await upload(instance, locker, 'twice', 'once')
  const first = await confirm(instance, locker, 'twice')
  const manifest = await manifestOf(locker)
  const reads = storage.reads.length
  instance.clock.advance(60)
  expect((await confirm(instance, locker, 'twice')).body).toEqual(first.body)
  expect(storage.reads).toHaveLength(reads)
  expect((await manifestOf(locker)).manifest_version).toBe(manifest.manifest_version)
})

it('STATE-08 ERR-21 a hash other than the expected one answers 409 and changes nothing', async () => {
  await upload(instance, locker, 'promised', 'wrong', { expected_hash: sha256('right') })
  const [entry, manifest] = [await entryOf(locker, 'promised'), await manifestOf(locker)]
  const refused = await confirm<ErrorReply>(instance, locker, 'promised')
  expectRefusal(refused, 409, 'HASH_MISMATCH')
  const hashes = { expected: sha256('right'), actual: sha256('wrong') }
  const advice = { layer: 'provider', recovery_hint: expect.any(String), next_best_method: 'PUT upload_url' }
  expect(refused.body.details).toEqual({ ...advice, filename: 'promised', ...hashes })
  expect(await entryOf(locker, 'promised')).toEqual(entry)
  expect(await manifestOf(locker)).toEqual(manifest)
})

it('T-10 FILE-23 wrong bytes are read once, and the right bytes match the expected hash', async () => {
  const expected_hash = sha256('right').toUpperCase().replace('SHA256:', '')
  await upload(instance, locker, 'better', 'wrong', { expected_hash })
  const reads = storage.reads.length
  for (let i = 0; i < 3; i++) expectRefusal(await confirm(instance, locker, 'better'), 409, 'HASH_MISMATCH')
  expect(storage.reads).toHaveLength(reads + 1)
  await upload(instance, locker, 'better', 'right', { expected_hash })
  expect((await confirm(instance, locker, 'better')).body).toMatchObject({ ok: true, content_hash: sha256('right') })
})

it('AMB-24 an expected hash applies from the next upload on, not to the current bytes', async () => {
  await upload(instance, locker, 'before', 'bytes')
  await create('before', { expected_hash: sha256('others') })
  expect((await confirm(instance, locker, 'before')).status).toBe(200)
})

const expectHelp = ({ body }: { body: ErrorReply }) =>
  expect(body.details).toMatchObject({
    layer: expect.stringMatching(/^(gateway|provider)$/),
    recovery_hint: expect.any(String),
    next_best_method: expect.any(String),
  })

it('ERR-18 FILE-31 confirming with an unknown receipt, or one without a locker, answers 404', async () => {
  const expected = {
    [`rcpt_${'0'.repeat(32)}`]: 'receipt_not_found',
    "'; drop table files": 'receipt_not_found',
    [await instance.receipt(ed25519Identity())]: 'locker_not_found',
  }
  for (const [receiptId, code] of Object.entries(expected)) {
    const refused = await confirm<ErrorReply>(instance, { receiptId }, 'a.txt')
    expectRefusal(refused, 404, code)
    expectHelp(refused)
  }
})

it('FILE-24 ERR-17 confirming an unknown name, or a file that was never uploaded, answers 404', async () => {
  await create('awaited')
  for (const filename of ['unknown', '', '../a.txt', 'AWAITED']) {
    const refused = await confirm<ErrorReply>(instance, locker, filename)
    expectRefusal(refused, 404, 'FILE_NOT_FOUND')
    expectHelp(refused)
  }
  const refused = await confirm<ErrorReply>(instance, locker, 'awaited')
  expectRefusal(refused, 404, 'CONTENT_NOT_FOUND')
  expect(refused.body.details.next_best_method).toBe(`POST /v1/lockers/${locker.lockerId}/files`)
})

it('FILE-24 ERR-17 bytes that the provider lost are not confirmed, and an earlier confirmation is still answered', async () => {
  const lose = async (filename: string) => {
    const { object_id } = await rowOf(instance, locker, filename)
    await storage.providers.named('gcs').remove({ id: object_id!, ref: null })
  }
  for (const name of ['lost', 'gone']) await upload(instance, locker, name, 'bytes')
  const first = await confirm(instance, locker, 'gone')
  for (const name of ['lost', 'gone']) await lose(name)
  expectRefusal(await confirm(instance, locker, 'lost'), 404, 'CONTENT_NOT_FOUND')
  expect(await entryOf(locker, 'lost')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
  expect((await confirm(instance, locker, 'gone')).body).toEqual(first.body)
})

it('T-139 FILE-31 a provider error answers 503 without its details, and the next attempt works', async () => {
  await upload(instance, locker, 'patience', 'bytes')
  storage.failRead()
  const refused = await confirm<ErrorReply>(instance, locker, 'patience')
  expectRefusal(refused, 503, 'STORAGE_UNAVAILABLE')
  expectHelp(refused)
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(JSON.stringify(refused.body)).not.toContain('the provider is down')
  expect((await confirm(instance, locker, 'patience')).status).toBe(200)
})

const PATH = '/v1/files/confirm-batch'

function signed<Body = ConfirmedFiles>(filenames: unknown, changes: Partial<SignedCall> = {}, who = locker.owner) {
  const { receiptId } = locker
  const body = { receipt_id: receiptId, filenames }
  return instance.call<Body>(who, { method: 'POST', path: PATH, body, ops: ['locker:write'], receiptId, ...changes })
}

it('FILE-25 FILE-31 a batch accepts a thousand names in a body, and an overlong query answers with advice', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => `folder/with a usual name ${i}.jpg`)
  const summary = { total: 1000, confirmed: 0, failed: 1000 }
  expect(await signed(names)).toMatchObject({ status: 200, body: { summary } })
  const { status, body } = await confirmBatch<ErrorBody>(instance, locker, names)
  expect([status, body.error]).toEqual([431, 'headers_too_large'])
  const next_best_method = expect.stringMatching(/^POST \/v1\/files\/confirm-batch .*body$/)
  expect(body).toMatchObject({ details: { layer: 'gateway', next_best_method, recovery_hint: expect.any(String) } })
})

it('FILE-25 STATE-07 a batch answers in order, and one failure does not fail the others', async () => {
  await upload(instance, locker, 'b', 'bytes of b')
  await upload(instance, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
  await upload(instance, locker, 'a', 'a')
  await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
  const { status, headers, body } = await confirmBatch(instance, locker, ['b', 'awaited', 'wrong', 'nothing', 'a'])
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
  const recorded = {
    ...recordedB,
    status: 'confirmed',
    hash_recorded_at: new Date(instance.clock.now()).toISOString().replace('.000', ''),
  }
  expect(await entryOf(locker, 'b')).toMatchObject(recorded)
  expect(await entryOf(locker, 'wrong')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
})

it('FILE-25 STATE-08 a batch changes the manifest once, and not if nothing can be confirmed', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `f${i}`)
  for (const name of names) await storeFile(instance, locker, name, name, { isConfirmed: false })
  await upload(instance, locker, 'wrong', 'wrong', { expected_hash: sha256('right') })
  const before = await manifestOf(locker)
  const failed = await confirmBatch(instance, locker, ['wrong', 'nothing'])
  expect(failed.body.summary).toEqual({ total: 2, confirmed: 0, failed: 2 })
  expect(await manifestOf(locker)).toEqual(before)
  expect((await confirmBatch(instance, locker, names)).body.summary).toEqual({ total: 20, confirmed: 20, failed: 0 })
  const changed = { manifest_version: before.manifest_version + 1, total_bytes: names.join('').length }
  expect(await manifestOf(locker)).toMatchObject(changed)
})

it('FILE-25 T-10 a repeated name is confirmed once and answered each time', async () => {
  await upload(instance, locker, 'f', 'bytes')
  const reads = storage.reads.length
  const { body } = await confirmBatch(instance, locker, ['f', 'g', 'f'])
  expect(body.results.map(({ filename, ok }) => `${filename} ${ok}`)).toEqual(['f true', 'g false', 'f true'])
  expect(body.summary).toEqual({ total: 3, confirmed: 2, failed: 1 })
  expect(storage.reads).toHaveLength(reads + 1)
  expect((await manifestOf(locker)).total_bytes).toBe(5)
})

it('T-139 a provider error fails only the file it concerns', async () => {
  await upload(instance, locker, 'f', 'bytes')
  await upload(instance, locker, 'g', 'bytes')
  storage.failRead()
  const { body } = await confirmBatch(instance, locker, ['f', 'g'])
  expect(body.summary).toEqual({ total: 2, confirmed: 1, failed: 1 })
  expect(body.results).toContainEqual(expect.objectContaining({ ok: false, error: 'STORAGE_UNAVAILABLE' }))
})

it('LIM-12 a batch accepts 1,000 names of any kind, and refuses one more', async () => {
  const names = Array.from({ length: 1000 }, (_, i) => (i < 900 ? `file ${i}` : '\u{1F980}'.repeat(100 - (i % 100))))
  await insertFiles(instance, locker, [...new Set(names)])
  await storeFile(instance, locker, 'file 7', 'bytes', { isConfirmed: false })
  const { body } = await signed(names)
  expect(body.summary).toEqual({ total: 1000, confirmed: 1, failed: 999 })
  expect(body.results.map(({ filename }) => filename)).toEqual(names)
  expectRefusal(await signed([...names, 'one more']), 422, 'validation_error')
})

it('ERR-24 ENV-19 a batch names the fields that are missing, wrong or differ', async () => {
  const locs = async (answer: Promise<{ status: number; body: ErrorReply }>) => {
    const { status, body } = await answer
    return [status, ...body.detail.map(({ loc }) => loc.join('.'))]
  }
  const receipt_id = locker.receiptId
  const both = `${PATH}?receipt_id=${receipt_id}&filenames=a&filenames=b`
  expect(await locs(instance.send('POST', PATH))).toEqual([422, 'query.receipt_id', 'query.filenames'])
  expect(await locs(signed('a'))).toEqual([422, 'body.filenames'])
  expect(await locs(signed(['a', 7]))).toEqual([422, 'body.filenames.1'])
  expect(await locs(instance.send('POST', both, { filenames: ['b', 'a'] }))).toEqual([422, 'body.filenames'])
  const unsigned = instance.send<ErrorReply>('POST', PATH, { receipt_id, filenames: ['a', 'b'] })
  expect(await locs(unsigned)).toEqual([422, 'header.X-Svc-Envelope', 'header.X-Svc-Signature'])
  expect((await instance.send('POST', both, { receipt_id, filenames: ['a', 'b'] })).status).toBe(200)
})
