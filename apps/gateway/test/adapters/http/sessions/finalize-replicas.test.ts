import { randomBytes } from 'node:crypto'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { expect, it, onTestFinished } from 'vitest'
import { watchedStorage } from '../../../files/confirm/confirm.ts'
import { lockerRow } from '../../../files/files.ts'
import { leftovers, sha256 } from '../transfers.ts'
import { openTestSession, publicBytes } from './sessions.ts'

const partsOf = (bytes: Buffer, size: number) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))

forEachDatabase('upload sessions at two gateways', (database) => {
  const storage = forAllTests(watchedStorage)
  const open = (overrides = {}) => {
    const variables = { DATABASE_URL: database.url, STORAGE_DIR: storage.folder, BASE_URL: 'https://gateway.example' }
    return openTestGateway(variables, overrides)
  }
  const instances = [forAllTests(open), forAllTests(open)] as const
  const locker = forEachTest(() => instances[0].locker(ed25519Identity()))

  it('SESS-03 ten concurrent finalizations at two gateways store each file once and answer the same', async () => {
    const [first] = instances
    const heldObjects = async () => (await leftovers(first.gateway)).held.length
    const before = await heldObjects()
    const bytes = randomBytes(400_000)
    const session = await openTestSession(first, locker, { files: [{ filename: 'joined' }, { filename: 'single' }] })
    const at = (i: number) => session.at(instances[i % 2]!)
    const sent = await Promise.all(partsOf(bytes, 50_000).map((part, i) => at(i).raw(i, part)))
    expect(sent.map(({ status }) => status)).toEqual(Array(8).fill(200))
    await at(1).part(0, 'single', { file: 1 })

    const replies = await Promise.all(Array.from({ length: 10 }, (_, i) => at(i).finalize()))
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    for (const { body } of replies) expect(body).toEqual(replies[0]?.body)
    expect(replies[0]?.body).toMatchObject({
      status: 'complete',
      files: [{ content_hash: `sha256:${sha256(bytes)}` }, { content_hash: `sha256:${sha256('single')}` }],
    })
    expect(await publicBytes(instances[1], locker, 'joined')).toEqual(bytes)
    expect(await lockerRow(first, locker)).toMatchObject({ file_count: 2, total_bytes: 400_006, manifest_version: 2 })
    expect(await heldObjects()).toBe(before + 2)
  })

  it('EVT-02 SESS-05 a job at another gateway finishes an interrupted finalization, even after the session expires', async () => {
    const watched = await watchedStorage(storage.folder)
    const victim = await open({ providers: watched.providers })
    onTestFinished(victim.close)
    const [, successor] = instances
    const session = await openTestSession(victim, locker, { files: [{ filename: 'a' }], ttl_min: 1 })
    for (const i of [0, 1]) await session.raw(i, `part ${i} `)
    const pausedRead = watched.holdRead()
    const interrupted = session.finalize()
    await pausedRead.began

    successor.clock.advance(15)
    await successor.gateway.context.queue.drain()
    expect((await session.at(successor).status()).body.status).toBe('partial')
    successor.clock.advance(60)
    await successor.gateway.context.queue.drain()
    const { body } = await session.at(successor).status()
    expect(body).toMatchObject({ status: 'complete', files: [{ state: 'stored' }] })
    expect(String(await publicBytes(successor, locker, 'a'))).toBe('part 0 part 1 ')
    pausedRead.release()
    expect((await interrupted).body).toMatchObject({ status: 'complete' })
    expect(await lockerRow(successor, locker)).toMatchObject({ file_count: 1, manifest_version: 1 })
  })

  it('SESS-05 a job repeats a finalization that failed while storage was down, for a day', async () => {
    const watched = await watchedStorage(storage.folder)
    const instance = await open({ providers: watched.providers })
    onTestFinished(instance.close)
    const files = [{ filename: 'a' }]
    const [repeated, outdated] = [
      await openTestSession(instance, locker, { files, ttl_min: 1 }),
      await openTestSession(instance, locker, { files: [{ filename: 'b' }], ttl_min: 1 }),
    ]
    for (const session of [repeated, outdated]) {
      for (const i of [0, 1]) await session.raw(i, `part ${i} `)
      watched.failRead()
      expectRefusal(await session.finalize(), 503, 'STORAGE_UNAVAILABLE')
    }
    const { db } = instance.gateway.context.database
    const expired = { expires_at: Math.floor(instance.clock.now() / 1000) - 86_400 }
    const { session_id } = outdated.opened
    await writable(db).updateTable('upload_sessions').set(expired).where('session_id', '=', session_id).execute()
    instance.clock.advance(300)
    await instance.gateway.context.queue.drain()
    expect((await repeated.status()).body).toMatchObject({ status: 'complete' })
    expect((await outdated.status()).body).toMatchObject({ status: 'failed' })
  })
})
