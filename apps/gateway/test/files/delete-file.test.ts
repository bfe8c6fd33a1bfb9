import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { ProviderError } from '@svc/storage/provider'
import { expect, it, onTestFinished } from 'vitest'
import { announceObject } from '../../src/files/objects.ts'
import { updateFile } from '../../src/files/store.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { listed } from '../adapters/http/sessions/sessions.ts'
import { objectRow } from '../adapters/http/transfers.ts'
import { watchedStorage } from './confirm/confirm.ts'
import { lockerRow, storeFile } from './files.ts'

const instance = forAllTests(openTestGateway)
const locker = forEachTest(() => instance.locker(ed25519Identity()))

const remove = (path: string) => locker.call(['locker:write'], 'DELETE', `/files/${path}`)
const create = (filename: string) => locker.call(['locker:write'], 'POST', '/files', { filename })
const statOf = (id: string | null) =>
  instance.gateway.context.providers.named('gcs').stat({ id: id as string, ref: null })

it('FILE-16 delete removes the file from list and manifest, and its bytes from the storage', async () => {
  const { object_id } = await storeFile(instance, locker, 'docs/a.txt', 'hello')
  await storeFile(instance, locker, 'kept', 'bytes')
  const before = await lockerRow(instance, locker)
  const facts = { locker_id: locker.lockerId, filename: 'docs/a.txt', deleted: true, bytes_removed: true }
  expect((await remove('docs/a.txt')).body).toEqual({ ok: true, ...facts })
  expect([await listed(locker, 'docs/a.txt'), await listed(locker, 'kept')]).toEqual([undefined, expect.anything()])
  const manifest = await locker.call(['locker:read'], 'GET', '/manifest')
  expect(manifest.body).toMatchObject({ file_count: 1, total_bytes: 5, manifest_version: before.manifest_version + 1 })
  expect([await statOf(object_id), await objectRow(instance, object_id)]).toEqual([null, undefined])
})

it('FILE-16 a second delete answers 404 and counts nothing twice, and the name can be created again', async () => {
  await storeFile(instance, locker, 'a', 'hello')
  await remove('a')
  const before = await lockerRow(instance, locker)
  expectRefusal(await remove('a'), 404, 'FILE_NOT_FOUND')
  expect(await lockerRow(instance, locker)).toEqual(before)
  await create('a')
  expect(await listed(locker, 'a')).toMatchObject({ content_hash: null, uploaded_at: null, status: 'awaiting_bytes' })
  expect((await remove('a')).body).toMatchObject({ deleted: true, bytes_removed: true })
  expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 0, total_bytes: 0 })
})

it('FILE-16 an object that a redirected client may still write is swept later', async () => {
  const { context } = instance.gateway
  await storeFile(instance, locker, 'a', 'hello')
  const upload_object_id = await announceObject(context, 'gcs')
  await writable(context.database.db)
    .transaction()
    .execute((tx) => updateFile(tx, locker.lockerId, 'a', { upload_object_id }))
  await remove('a')
  expect(await objectRow(instance, upload_object_id)).toMatchObject({ state: 'writing' })
  instance.clock.advance(49 * 3600)
  await sweepObjects(context)
  expect(await objectRow(instance, upload_object_id)).toBeUndefined()
})

it('T-17 FILE-16 a conditional delete removes the bytes that its condition names, and never newer ones', async () => {
  const known = await storeFile(instance, locker, 'a', 'hello')
  const before = `?expected_hash=${known.content_hash}&expected_uploaded_at=${known.uploaded_at}`
  instance.clock.advance(60)
  const { content_hash, uploaded_at } = await storeFile(instance, locker, 'a', 'newer')
  const refused = await remove(`a${before}`)
  expectRefusal(refused, 412, 'PRECONDITION_FAILED')
  expect(refused.body).toMatchObject({ details: { content_hash, uploaded_at } })
  // The same bytes, uploaded again, are newer as well.
  instance.clock.advance(60)
  await storeFile(instance, locker, 'a', 'hello')
  expectRefusal(await remove(`a${before}`), 412, 'PRECONDITION_FAILED')
  expectRefusal(await remove('a?expected_uploaded_at=none'), 412, 'PRECONDITION_FAILED')
  expectRefusal(await remove('a?expected_hash=abc'), 422, 'validation_error')
  expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 1, total_bytes: 5 })
  expect((await remove(`a?expected_hash=${known.content_hash?.slice('sha256:'.length).toUpperCase()}`)).status).toBe(
    200,
  )
  await create('b')
  expectRefusal(await remove(`b${before}`), 412, 'PRECONDITION_FAILED')
  expect((await remove('b?expected_uploaded_at=none')).status).toBe(200)
})

it('the sweep retries an object that cannot be removed after all others', async () => {
  const storage = await watchedStorage()
  onTestFinished(storage.remove)
  const local = storage.providers.named('gcs')
  let stubborn: string
  const asked: string[] = []
  const providers = onlyProvider({
    ...local,
    async remove(key) {
      asked.push(key.id)
      if (key.id === stubborn) throw new ProviderError('unavailable', new Error('retention policy'))
      return local.remove(key)
    },
  })
  const own = await openTestGateway({}, { providers })
  onTestFinished(own.close)
  const { context } = own.gateway
  stubborn = await announceObject(context, 'gcs')
  own.clock.advance(49 * 3600)
  expect(await sweepObjects(context)).toBe(0)
  expect(await sweepObjects(context)).toBe(0)
  expect(asked).toEqual([stubborn])

  const other = await announceObject(context, 'gcs')
  own.clock.advance(49 * 3600)
  expect(await sweepObjects(context)).toBe(1)
  expect(asked.slice(1).sort()).toEqual([stubborn, other].sort())
})
