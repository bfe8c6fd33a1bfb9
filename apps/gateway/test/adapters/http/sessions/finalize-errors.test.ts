import { truncate, unlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { ProviderError, type StorageProvider } from '@svc/storage/provider'
import { beforeEach, expect, it } from 'vitest'
import { watchedStorage } from '../../../files/confirm/confirm.ts'
import { lockerRow } from '../../../files/files.ts'
import { sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes, type TestSession } from './sessions.ts'

/** What the provider does before it reads or writes, or after it wrote; reset before each test. */
let faults: Partial<Record<'read' | 'write' | 'written', () => void | Promise<void>>> = {}
beforeEach(() => {
  faults = {}
})

const storage = forAllTests(watchedStorage)
const instance = forAllTests(() => {
  const local = storage.providers.named('gcs')
  const provider: StorageProvider = {
    ...local,
    async read(key, range) {
      await faults.read?.()
      return local.read(key, range)
    },
    async write(id, bytes, about) {
      await faults.write?.()
      const stored = await local.write(id, bytes, about)
      await faults.written?.()
      return stored
    },
  }
  return openTestGateway({}, { providers: onlyProvider(provider) })
})
const locker = forEachTest(() => instance.locker(ed25519Identity()))

const unavailable = () => {
  throw new ProviderError('unavailable', new Error('unplugged'))
}
/** Runs the fault the first time only. */
const once = (fault: () => void | Promise<void>) => {
  let isFirst = true
  return () => {
    if (!isFirst) return
    isFirst = false
    return fault()
  }
}

async function sessionOf(filename: string, texts: string[]): Promise<TestSession> {
  const session = await openTestSession(instance, locker, { files: [{ filename }] })
  for (const [i, text] of texts.entries()) expect((await session.raw(i, text)).status).toBe(200)
  return session
}

const db = () => instance.gateway.context.database.db
const unfinished = () => db().selectFrom('objects').selectAll().where('state', '=', 'writing').execute()
const sessionRow = async ({ opened }: TestSession) =>
  db().selectFrom('upload_sessions').selectAll().where('session_id', '=', opened.session_id).executeTakeFirstOrThrow()
const changeSession = ({ opened }: TestSession, changes: object) =>
  writable(db()).updateTable('upload_sessions').set(changes).where('session_id', '=', opened.session_id).execute()

it.each([
  ['before it writes', 'write'],
  ['while it reads', 'read'],
  ['after it wrote', 'written'],
])('SESS-06 T-139 finalizing answers 503 when storage fails %s, and succeeds when repeated', async (_, when) => {
  const session = await sessionOf(when, ['one ', 'two ', 'three'])
  faults = { [when]: once(unavailable) }
  const refused = await session.finalize()
  expectRefusal(refused, 503, 'STORAGE_UNAVAILABLE')
  expect(refused.body).toMatchObject({ details: { layer: 'provider' } })
  expect(await listed(locker, when)).toBeUndefined()
  expect((await session.status()).body).toMatchObject({ status: 'partial', files: [{ parts: 3, state: 'open' }] })

  expect((await session.finalize()).body.status).toBe('complete')
  expect(String(await publicBytes(instance, locker, when))).toBe('one two three')
})

it('SESS-03 finalizing again after a storage failure stores only the remaining files', async () => {
  const files = [{ filename: 'first' }, { filename: 'second' }]
  const session = await openTestSession(instance, locker, { files })
  for (const file of [0, 1]) for (const i of [0, 1]) await session.raw(i, `${file}${i}`, { file })
  let writes = 0
  faults = { write: () => (++writes === 2 ? unavailable() : undefined) }
  expectRefusal(await session.finalize(), 503, 'STORAGE_UNAVAILABLE')
  expect((await session.status()).body.files).toMatchObject([{ state: 'stored' }, { state: 'open' }])
  const before = await lockerRow(instance, locker)
  expect((await session.finalize()).body.status).toBe('complete')
  expect((await lockerRow(instance, locker)).manifest_version).toBe(before.manifest_version + 1)
})

it('SESS-06 a part answers 503 when storage fails, and leaves nothing', async () => {
  const session = await sessionOf('part', [])
  faults = { write: unavailable }
  expectRefusal(await session.raw(0, 'x'), 503, 'STORAGE_UNAVAILABLE')
  expectRefusal(await session.part(0, 'x'), 503, 'STORAGE_UNAVAILABLE')
  faults = {}
  expect((await session.status()).body.files).toMatchObject([{ parts: 0, received_bytes: 0 }])
})

it.each([
  ['gone', (path: string) => unlink(path)],
  ['cut short', (path: string) => truncate(path, 3)],
  ['changed', (path: string) => writeFile(path, 'last!')],
])('SESS-04 a stored part that is %s counts as missing and can be sent again', async (name, corrupt) => {
  const session = await sessionOf(name, ['first ', 'last.'])
  const parts = db().selectFrom('upload_parts').selectAll().where('session_id', '=', session.opened.session_id)
  const { object_id } = await parts.where('part_index', '=', 1).executeTakeFirstOrThrow()
  await corrupt(join(storage.folder, 'objects', object_id.slice(0, 2), object_id))
  const incomplete = { status: 'partial', files: [{ ok: false, error: 'CONTENT_NOT_FOUND', missing_parts: [1] }] }
  expect((await session.finalize()).body).toMatchObject(incomplete)
  expect((await session.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 6, missing_parts: [1] }])
  expect(await listed(locker, name)).toBeUndefined()
  await session.raw(1, 'last.')
  expect((await session.finalize()).body.status).toBe('complete')
  expect(String(await publicBytes(instance, locker, name))).toBe('first last.')
})

it('SESS-03 finalizing starts over when a part changes meanwhile', async () => {
  const session = await sessionOf('changing', ['old ', 'end'])
  const before = await unfinished()
  faults = { read: once(async () => void (await session.raw(0, 'newer '))) }
  const newer = { status: 'complete', files: [{ content_hash: `sha256:${sha256('newer end')}` }] }
  expect((await session.finalize()).body).toMatchObject(newer)
  expect(String(await publicBytes(instance, locker, 'changing'))).toBe('newer end')
  expect(await unfinished()).toEqual(before)
})

it('SESS-03 finalizing leaves a file open when its parts keep changing', async () => {
  const session = await sessionOf('restless', ['old ', 'end'])
  const before = await unfinished()
  faults = { read: async () => void (await session.raw(0, 'another ')) }
  const changing = { status: 'partial', files: [{ ok: false, error: 'CONTENT_HASH_CHANGED' }] }
  expect((await session.finalize()).body).toMatchObject(changing)
  faults = {}
  expect(await unfinished()).toEqual(before)
  expect((await session.finalize()).body.status).toBe('complete')
})

it('SESS-03 finalizing after a crash stores no file a second time', async () => {
  const session = await sessionOf('between', ['one ', 'two'])
  const { body } = await session.finalize()
  const before = await lockerRow(instance, locker)
  await changeSession(session, { status: 'partial', closed_at: null, lease_id: 'dead', lease_until: 0 })
  expect((await session.status()).body).toMatchObject({ status: 'partial', files: [{ state: 'stored' }] })
  expect((await session.finalize()).body).toEqual(body)
  expect(await lockerRow(instance, locker)).toEqual(before)
})

const lease = (session: TestSession, lease_id: string, seconds: number) =>
  changeSession(session, { lease_id, lease_until: Math.floor(instance.clock.now() / 1000) + seconds })

it('SESS-03 finalizing waits until the lease of a dead gateway expires', async () => {
  const session = await sessionOf('died', ['one ', 'two'])
  await lease(session, 'dead', 15)
  const finalizing = session.finalize()
  for (let i = 0; i < 10; i++) await session.status()
  expect((await sessionRow(session)).lease_id).toBe('dead')
  instance.clock.advance(16)
  expect((await finalizing).body.status).toBe('complete')
})

it('SESS-03 a gateway that lost its lease stores nothing', async () => {
  const session = await sessionOf('late', ['one ', 'two'])
  const before = await lockerRow(instance, locker)
  let reads = 0
  faults = {
    // Another gateway takes the lease, which has expired by the next attempt.
    written: once(async () => void (await lease(session, 'another', -1))),
    read: () => void reads++,
  }
  expect((await session.finalize()).body.status).toBe('complete')
  expect(reads).toBe(4)
  const stored = { manifest_version: before.manifest_version + 1, file_count: before.file_count + 1 }
  expect(await lockerRow(instance, locker)).toMatchObject(stored)
  expect(String(await publicBytes(instance, locker, 'late'))).toBe('one two')
})
