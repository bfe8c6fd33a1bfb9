import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { sweepSessions } from '../../../../src/files/parts/close-session.ts'
import { sweepObjects } from '../../../../src/files/sweep-objects.ts'
import { openTestSession, publicBytes, type TestSession } from './sessions.ts'

forEachDatabase('expired upload sessions', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const db = () => instance.gateway.context.database.db

  const open = (...filenames: string[]) =>
    openTestSession(instance, locker, { files: filenames.map((filename) => ({ filename })), ttl_min: 10 })
  const rows = (table: 'upload_parts' | 'upload_session_files' | 'upload_sessions', { opened }: TestSession) =>
    db().selectFrom(table).selectAll().where('session_id', '=', opened.session_id).execute()

  it('STATE-13 SESS-04 an expired session with nothing stored is failed', async () => {
    const session = await open('a')
    await session.raw(0, 'a')
    instance.clock.advance(599)
    expect((await session.raw(1, 'b')).status).toBe(200)
    instance.clock.advance(1)
    expectRefusal(await session.raw(2, 'c'), 409, 'SESSION_CLOSED')
    expect((await session.status()).body).toMatchObject({ status: 'failed', files: [{ state: 'failed' }] })
    const { body } = await session.finalize()
    expect(body).toMatchObject({ status: 'failed', files: [{ ok: false, error: 'SESSION_CLOSED' }], viewer_url: null })
    expect((await session.finalize()).body).toEqual(body)
    expect(await rows('upload_parts', session)).toEqual([])
  })

  it('STATE-13 SESS-04 an expired session with some files stored stays partial', async () => {
    const session = await open('stored', 'missing')
    await session.raw(0, 'stored')
    await session.raw(1, 'x', { file: 1 })
    expect((await session.finalize()).body.status).toBe('partial')
    instance.clock.advance(600)
    const ended = { status: 'partial', files: [{ ok: true }, { ok: false, error: 'SESSION_CLOSED' }], viewer_url: null }
    expect((await session.finalize()).body).toMatchObject(ended)
    expectRefusal(await session.raw(0, 'x', { file: 1 }), 409, 'SESSION_CLOSED')
    expect((await session.status()).body.status).toBe('partial')
    expect(await rows('upload_parts', session)).toEqual([])
    expect(String(await publicBytes(instance, locker, 'stored'))).toBe('stored')
  })

  it('STATE-13 the sweep closes expired sessions and releases their parts', async () => {
    const session = await open('left')
    const going = await openTestSession(instance, locker, { files: [{ filename: 'going on' }] })
    for (const index of [0, 1, 2]) await session.raw(index, 'bytes')
    await going.raw(0, 'still ')
    const objects = (await rows('upload_parts', session)) as { object_id: string }[]
    instance.clock.advance(600)
    const { context } = instance.gateway
    await sweepSessions(context)
    await sweepSessions(context)
    expect(await rows('upload_sessions', session)).toMatchObject([{ status: 'failed' }])
    expect(await rows('upload_parts', session)).toEqual([])
    instance.clock.advance(3600)
    await sweepObjects(instance.gateway.context)
    const provider = context.providers.named('gcs')
    for (const { object_id } of objects) expect(await provider.stat({ id: object_id, ref: null })).toBeNull()

    await going.raw(1, 'here')
    expect((await going.finalize()).body.status).toBe('complete')
    expect(String(await publicBytes(instance, locker, 'going on'))).toBe('still here')
  })

  it('STATE-13 the sweep skips a session that is being finalized, until its lease and a day have passed', async () => {
    const session = await open('leased')
    const { context } = instance.gateway
    instance.clock.advance(600)
    const lease = { lease_id: 'another', lease_until: Math.floor(instance.clock.now() / 1000) + 15 }
    const { session_id } = session.opened
    await writable(db()).updateTable('upload_sessions').set(lease).where('session_id', '=', session_id).execute()
    await sweepSessions(context)
    expect(await rows('upload_sessions', session)).toMatchObject([{ status: 'partial', closed_at: null }])
    instance.clock.advance(16)
    await sweepSessions(context)
    expect(await rows('upload_sessions', session)).toMatchObject([{ status: 'partial' }])
    instance.clock.advance(86_400)
    await sweepSessions(context)
    expect(await rows('upload_sessions', session)).toMatchObject([{ status: 'failed' }])
  })

  it('SESS-04 a closed session can be read for a month, and its files stay', async () => {
    const session = await open('kept')
    await session.raw(0, 'kept')
    await session.finalize()
    const { context } = instance.gateway
    instance.clock.advance(29 * 86_400)
    await sweepSessions(context)
    expect((await session.status()).body.status).toBe('complete')
    instance.clock.advance(2 * 86_400)
    await sweepSessions(context)
    expectRefusal(await session.status(), 404, 'SESSION_NOT_FOUND')
    expect(await rows('upload_session_files', session)).toEqual([])
    await sweepObjects(instance.gateway.context)
    expect(String(await publicBytes(instance, locker, 'kept'))).toBe('kept')
  })

  it('STATE-13 one sweep closes more sessions than fit in a batch', { tags: ['nightly'] }, async () => {
    const sessions = await Promise.all(Array.from({ length: 101 }, (_, i) => open(`many ${i}`)))
    instance.clock.advance(600)
    await sweepSessions(instance.gateway.context)
    for (const session of sessions) expect(await rows('upload_sessions', session)).toMatchObject([{ status: 'failed' }])
  })
})
