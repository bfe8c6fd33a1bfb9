import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/testbed/test-gateway'
import { expect, it } from 'vitest'
import { rowOf } from '../../transfers/transfers.ts'
import { confirm, type ErrorReply, entryOf, manifestOf, sha256, upload, watchedStorage } from './confirm.ts'

const storage = forAllTests(watchedStorage)
const house = forAllTests(() => openTestGateway({}, { providers: storage.providers }))
const locker = forEachTest(() => house.locker(ed25519Identity()))

const create = (filename: string, more = {}) =>
  locker.call(['locker:write'], 'POST', '/files', { filename, content_type: 'text/plain', ...more })

it('FILE-20 FILE-22 STATE-07 SHAPE-26 AMB-70 confirming a file hashes its bytes and records size and hash', async () => {
  await upload(house, locker, 'a.txt', 'hello\n')
  const before = await manifestOf(locker)
  const { uploaded_at } = (await entryOf(locker, 'a.txt'))!
  house.clock.advance(5)
  const now = new Date(house.clock.now()).toISOString().replace('.000', '')
  const { status, headers, body } = await confirm(house, locker, 'a.txt')
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  const recorded = { size_bytes: 6, content_hash: sha256('hello\n'), hash_recorded_at: now }
  const ids = { receipt_id: locker.receiptId, locker_id: locker.lockerId }
  expect(body).toEqual({ ok: true, ...ids, filename: 'a.txt', ...recorded })
  expect(await entryOf(locker, 'a.txt')).toMatchObject({ ...recorded, status: 'confirmed', uploaded_at })
  const changed = { manifest_version: before.manifest_version + 1, total_bytes: 6, updated_at: now }
  expect(await manifestOf(locker)).toMatchObject(changed)
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

it('FILE-23 STATE-08 ERR-21 ERR-29 a hash other than the expected one answers 409 and changes nothing', async () => {
  await upload(house, locker, 'promised', 'wrong', { expected_hash: sha256('right') })
  const [entry, manifest] = [await entryOf(locker, 'promised'), await manifestOf(locker)]
  const refused = await confirm<ErrorReply>(house, locker, 'promised')
  expectRefusal(refused, 409, 'HASH_MISMATCH')
  const hashes = { expected: sha256('right'), actual: sha256('wrong') }
  const advice = { layer: 'provider', recovery_hint: expect.any(String), next_best_method: 'PUT upload_url' }
  expect(refused.body.details).toEqual({ ...advice, filename: 'promised', ...hashes })
  expect(await entryOf(locker, 'promised')).toEqual(entry)
  expect(await manifestOf(locker)).toEqual(manifest)
})

it('T-10 FILE-23 AMB-73 wrong bytes are read once, and the right ones meet the expected hash', async () => {
  const expected_hash = sha256('right').toUpperCase().replace('SHA256:', '')
  await upload(house, locker, 'better', 'wrong', { expected_hash })
  const reads = storage.reads.length
  for (let i = 0; i < 3; i++) expectRefusal(await confirm(house, locker, 'better'), 409, 'HASH_MISMATCH')
  expect(storage.reads).toHaveLength(reads + 1)
  await upload(house, locker, 'better', 'right', { expected_hash })
  expect((await confirm(house, locker, 'better')).body).toMatchObject({ ok: true, content_hash: sha256('right') })
})

it('AMB-24 an expected hash applies from the next upload on, not to the current bytes', async () => {
  await upload(house, locker, 'before', 'bytes')
  await create('before', { expected_hash: sha256('others') })
  expect((await confirm(house, locker, 'before')).status).toBe(200)
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
    [await house.receipt(ed25519Identity())]: 'locker_not_found',
  }
  for (const [receiptId, code] of Object.entries(expected)) {
    const refused = await confirm<ErrorReply>(house, { receiptId }, 'a.txt')
    expectRefusal(refused, 404, code)
    expectHelp(refused)
  }
})

it('FILE-24 ERR-17 AMB-07 FILE-31 confirming an unknown name, or a file that was never uploaded, answers 404', async () => {
  await create('awaited')
  for (const filename of ['unknown', '', '../a.txt', 'AWAITED']) {
    const refused = await confirm<ErrorReply>(house, locker, filename)
    expectRefusal(refused, 404, 'FILE_NOT_FOUND')
    expectHelp(refused)
  }
  const refused = await confirm<ErrorReply>(house, locker, 'awaited')
  expectRefusal(refused, 404, 'CONTENT_NOT_FOUND')
  expect(refused.body.details.next_best_method).toBe(`POST /v1/lockers/${locker.lockerId}/files`)
})

it('FILE-24 ERR-17 AMB-58 bytes that the provider lost are not confirmed; what was recorded before is still answered', async () => {
  const lose = async (filename: string) => {
    const { object_id } = await rowOf(house, locker, filename)
    await storage.providers.named('gcs').remove({ id: object_id!, ref: null })
  }
  for (const name of ['lost', 'gone']) await upload(house, locker, name, 'bytes')
  const first = await confirm(house, locker, 'gone')
  for (const name of ['lost', 'gone']) await lose(name)
  expectRefusal(await confirm(house, locker, 'lost'), 404, 'CONTENT_NOT_FOUND')
  expect(await entryOf(locker, 'lost')).toMatchObject({ status: 'awaiting_bytes', content_hash: null })
  expect((await confirm(house, locker, 'gone')).body).toEqual(first.body)
})

it('T-31 FILE-31 a provider error answers 503 without its details, and the next attempt works', async () => {
  await upload(house, locker, 'patience', 'bytes')
  storage.failRead()
  const refused = await confirm<ErrorReply>(house, locker, 'patience')
  expectRefusal(refused, 503, 'STORAGE_UNAVAILABLE')
  expectHelp(refused)
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(JSON.stringify(refused.body)).not.toContain('the provider is down')
  expect((await confirm(house, locker, 'patience')).status).toBe(200)
})
