import type { FinalizedUpload } from '@svc/api/upload-sessions'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type TestLocker } from '@svc/devnet/services/test-gateway'
import type { StorageProvider } from '@svc/storage/provider'
import { expect, it } from 'vitest'
import { createSessionFinalizer } from '../../../../src/files/parts/finalize-session.ts'
import { lockerRow } from '../../../files/files.ts'
import { leftovers, rowOf, sha256 } from '../transfers.ts'
import { listed, openTestSession, publicBytes } from './sessions.ts'

type Gate = PromiseWithResolvers<void>
const SECRET = 'an-internal-secret-for-tests'

forEachDatabase('finalizing an upload session', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url, INTERNAL_SECRET: SECRET }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const open = (...files: Parameters<typeof openTestSession>[2]['files']) =>
    openTestSession(instance, locker, { files })
  const heldObjects = async () => (await leftovers(instance.gateway)).held.length

  it('T-35 one owner copies at most two files concurrently, so that others do not wait', async () => {
    const { context } = instance.gateway
    const [own, other] = [locker, await instance.locker(ed25519Identity())]
    const open = async (of: TestLocker, part: string) => {
      const session = await openTestSession(instance, of, { files: [{ filename: part }] })
      for (const i of [0, 1]) expect((await session.raw(i, part)).status).toBe(200)
      return session.opened.session_id
    }
    const ids = [await open(own, 'a1'), await open(own, 'a2'), await open(own, 'a3'), await open(own, 'a4')]
    const others = await open(other, 'other')
    const began: number[] = []
    const [gate, two, three] = [0, 1, 2].map(() => Promise.withResolvers<void>()) as [Gate, Gate, Gate]
    const finalizeSession = createSessionFinalizer({
      ...context,
      providers: {
        ...context.providers,
        named(name) {
          const provider = context.providers.named(name)
          const write: StorageProvider['write'] = async (id, bytes, about) => {
            const count = began.push(about.size ?? 0)
            if (count === 2) two.resolve()
            if (count === 3) three.resolve()
            await gate.promise
            return provider.write(id, bytes, about)
          }
          return { ...provider, write }
        },
      },
    })
    const copying = ids.map((id) => finalizeSession(id))
    await two.promise
    copying.push(finalizeSession(others))
    await three.promise
    expect(began).toEqual([4, 4, 10])
    gate.resolve()
    await Promise.all(copying)
    expect(began.toSorted()).toEqual([10, 4, 4, 4, 4])
  })

  it('SESS-02 the same part sent concurrently is stored once', async () => {
    const session = await open({ filename: 'a' })
    const before = await heldObjects()
    const replies = await Promise.all(Array.from({ length: 12 }, () => session.raw(0, 'same')))
    expect(replies.map(({ status, body }) => [status, body.total_received_bytes])).toEqual(Array(12).fill([200, 4]))
    expect((await session.status()).body.files).toMatchObject([{ parts: 1, received_bytes: 4 }])
    expect(await heldObjects()).toBe(before + 1)
  })

  it('SESS-03 a single part becomes the file without a copy, and of several parts only the joined file remains', async () => {
    const before = await heldObjects()
    const session = await open({ filename: 'single' }, { filename: 'joined' })
    await session.raw(0, 'only')
    const { db } = instance.gateway.context.database
    const parts = db.selectFrom('upload_parts').select('object_id')
    const { object_id } = await parts.where('session_id', '=', session.opened.session_id).executeTakeFirstOrThrow()
    for (const index of [0, 1, 2]) await session.raw(index, `part ${index}`, { file: 1 })
    expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [{ size_bytes: 4 }, {}] })
    expect((await rowOf(instance, locker, 'single')).object_id).toBe(object_id)
    expect(await heldObjects()).toBe(before + 2)
    expect(String(await publicBytes(instance, locker, 'single'))).toBe('only')
    expect(String(await publicBytes(instance, locker, 'joined'))).toBe('part 0part 1part 2')
  })

  it('SESS-03 an empty file needs no part if its size is declared, or one empty part', async () => {
    const session = await open({ filename: 'declared', size_bytes: 0 }, { filename: 'sent' })
    await session.part(0, '', { file: 1 })
    const empty = { ok: true, size_bytes: 0, content_hash: `sha256:${sha256('')}` }
    expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [empty, empty] })
    for (const name of ['declared', 'sent']) expect(await publicBytes(instance, locker, name)).toHaveLength(0)
  })

  it('AMB-24 finalizing replaces an existing file, its type and its hash', async () => {
    for (const text of ['old', 'newer']) {
      const session = await open({ filename: 'a', content_type: 'image/png' })
      await session.raw(0, text)
      await session.finalize()
    }
    expect(await listed(locker, 'a')).toMatchObject({ size_bytes: 5, content_hash: `sha256:${sha256('newer')}` })
    expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 1, total_bytes: 5, manifest_version: 2 })
  })

  it('SESS-04 missing parts are listed and can be sent later', async () => {
    const session = await open({ filename: 'a' }, { filename: 'b' }, { filename: 'c' })
    for (const index of [1, 4, 6]) await session.raw(index, String(index))
    await session.raw(0, 'b', { file: 1 })
    const status = await session.status()
    expect(status.body.files.map(({ missing_parts }) => missing_parts)).toEqual([[0, 2, 3, 5], [], []])

    const early = await session.finalize()
    expect(early.body).toMatchObject({
      status: 'partial',
      files: [
        { filename: 'a', ok: false, error: 'CONTENT_NOT_FOUND', missing_parts: [0, 2, 3, 5] },
        { filename: 'b', ok: true },
        { filename: 'c', ok: false, error: 'CONTENT_NOT_FOUND', message: 'no part was received' },
      ],
      viewer_url: expect.stringMatching(/\/f\/b$/),
    })
    for (const index of [0, 2, 3, 5]) await session.raw(index, String(index))
    expectRefusal(await session.raw(1, 'b', { file: 1 }), 409, 'SESSION_CLOSED')
    await session.part(0, 'c', { file: 2 })
    expect((await session.finalize()).body).toMatchObject({ status: 'complete' })
    expect(String(await publicBytes(instance, locker, 'a'))).toBe('0123456')
  })

  it('SESS-04 the list of missing parts has at most a hundred entries', async () => {
    const session = await open({ filename: 'a' })
    await session.raw(99_999, 'last')
    const [file] = (await session.status()).body.files
    expect(file?.missing_parts).toEqual(Array.from({ length: 100 }, (_, i) => i))
    expect((await session.finalize()).body).toMatchObject({ status: 'partial', files: [{ ok: false }] })
  })

  it('SESS-03 a file is stored only when it has its declared size', async () => {
    const session = await open({ filename: 'a', size_bytes: 5 })
    await session.raw(0, '123')
    expect((await session.finalize()).body).toMatchObject({
      status: 'partial',
      files: [{ ok: false, error: 'CONTENT_NOT_FOUND', message: '3 of 5 bytes were received' }],
      viewer_url: null,
    })
    await session.raw(1, '45')
    expect((await session.finalize()).body).toMatchObject({ status: 'complete', files: [{ size_bytes: 5 }] })
  })

  it('STATE-13 finalizing a session without parts fails it', async () => {
    const session = await open({ filename: 'a' }, { filename: 'b' })
    const { body } = await session.finalize()
    expect(body).toMatchObject({ status: 'failed', files: [{ ok: false }, { ok: false }], viewer_url: null })
    expectRefusal(await session.raw(0, 'late'), 409, 'SESSION_CLOSED')
    expect((await session.finalize()).body).toEqual(body)
  })

  it.each([1, 3])('FILE-23 STATE-13 a wrong hash of the only file fails the session: %i parts', async (parts) => {
    const bytes = 'abc'.repeat(parts)
    const session = await open({ filename: 'a', expected_hash: sha256('promised').toUpperCase() })
    for (let i = 0; i < parts; i++) await session.raw(i, 'abc')
    const { status, body } = await session.finalize()
    const message = `the bytes are sha256:${sha256(bytes)}, not sha256:${sha256('promised')}`
    const refused = { file_id: 'f_0001', filename: 'a', ok: false, error: 'HASH_MISMATCH', message }
    const { session_id } = session.opened
    expect([status, body]).toEqual([200, { session_id, status: 'failed', files: [refused], viewer_url: null }])
    expect((await session.finalize()).body).toEqual(body)
    expect((await session.status()).body).toMatchObject({ status: 'failed', files: [{ state: 'failed' }] })
    expectRefusal(await session.raw(0, 'abc'), 409, 'SESSION_CLOSED')
    expect(await listed(locker, 'a')).toBeUndefined()
  })

  it('STATE-13 a file with a wrong hash leaves the session partial, and can be sent again', async () => {
    const session = await open({ filename: 'wrong', expected_hash: `sha256:${sha256('right')}` }, { filename: 'good' })
    await session.raw(0, 'not right')
    expect((await session.finalize()).body.status).toBe('partial')
    await session.raw(0, 'good', { file: 1 })
    const first = await session.finalize()
    expect(first.body).toMatchObject({
      status: 'partial',
      files: [
        { ok: false, error: 'HASH_MISMATCH' },
        { ok: true, size_bytes: 4 },
      ],
    })
    expect((await session.finalize()).body).toEqual(first.body)
    expect((await session.status()).body.files).toMatchObject([{ state: 'failed' }, { state: 'stored' }])
    await session.raw(2, 't')
    expect((await session.status()).body.files).toMatchObject([{ state: 'open' }, { state: 'stored' }])
    expect((await session.finalize()).body.files).toMatchObject([{ error: 'CONTENT_NOT_FOUND' }, { ok: true }])
    await session.raw(0, 'ri')
    await session.raw(1, 'gh')
    const right = { status: 'complete', files: [{ content_hash: `sha256:${sha256('right')}` }, { ok: true }] }
    expect((await session.finalize()).body).toMatchObject(right)
  })

  it('STATE-13 a complete session never changes, even if its files are deleted', async () => {
    const session = await open({ filename: 'a' })
    await session.raw(0, 'a')
    const { body } = await session.finalize()
    const { manifest_version } = await lockerRow(instance, locker)
    expect((await session.finalize()).body).toEqual(body)
    expect((await lockerRow(instance, locker)).manifest_version).toBe(manifest_version)
    await locker.call(['locker:write'], 'DELETE', '/files/a')
    expect((await session.finalize()).body).toEqual(body)
    expect(await listed(locker, 'a')).toBeUndefined()
    expectRefusal(await session.part(0, 'b'), 409, 'SESSION_CLOSED')
  })

  const job = (body: unknown, secret = SECRET) => {
    const headers = { authorization: `Bearer ${secret}` }
    return instance.send<FinalizedUpload>('POST', '/v1/internal/jobs/finalize-upload', body, headers)
  }

  it('SESS-05 INT-02 the finalize job answers like the endpoint, also for a partial session', async () => {
    const session = await open({ filename: 'a' }, { filename: 'b' })
    const { session_id } = session.opened
    await session.raw(0, 'a')
    const partial = await job({ session_id })
    expect([partial.status, partial.body]).toEqual([200, (await session.finalize()).body])
    expect(partial.body.status).toBe('partial')
    await session.raw(0, 'b', { file: 1 })
    expect((await job({ session_id })).body.status).toBe('complete')
    expect((await job({ session_id })).body).toEqual((await session.finalize()).body)
  })

  it('INT-06 SESS-05 the finalize job is for internal callers only, and refuses unknown sessions', async () => {
    const session = await open({ filename: 'c' })
    const { session_id, upload_token } = session.opened
    expectRefusal(await job({ session_id }, 'another'), 401, 'INTERNAL_AUTH_REQUIRED')
    expectRefusal(await job({ session_id }, upload_token), 401, 'INTERNAL_AUTH_REQUIRED')
    expectRefusal(await job({ session_id: `us_${'0'.repeat(32)}` }), 404, 'SESSION_NOT_FOUND')
    expectRefusal(await job({ session_id: 7 }), 422, 'validation_error')
  })
})
