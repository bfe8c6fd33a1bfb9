import { randomBytes } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { sweepObjects } from '../../../src/files/sweep-objects.ts'
import { watchedStorage } from '../../files/confirm/confirm.ts'
import { openTestSession, publicBytes } from './sessions/sessions.ts'
import { createFile, leftovers, put, rowOf, sha256 } from './transfers.ts'

const MEBIBYTE = 1_048_576

forEachDatabaseInGate('concurrent uploads', (database) => {
  const storage = forAllTests(watchedStorage)
  const key = randomBytes(32).toString('hex')
  const variables = () => ({ DATABASE_URL: database.url, STORAGE_DIR: storage.folder, SHORT_URL_KEY: key })
  /** Two gateways on one database and one folder. */
  const instance = forAllTests(() => openTestGateway(variables()))
  const other = forAllTests(() => openTestGateway(variables(), { now: instance.clock.now }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))
  const urls = forEachTest(() => createFile(instance, locker, 'a.txt'))

  const at = ({ gateway }: TestGateway, url: string) => gateway.url + new URL(url).pathname

  it('AMB-24 concurrent uploads of one file leave one of them and release the others', async () => {
    const before = await leftovers(instance.gateway)
    const bodies = Array.from({ length: 20 }, (_, i) => randomBytes(100_000 + i))
    const answers = await Promise.all(bodies.map((body, i) => put(at(i % 2 ? instance : other, urls.upload), body)))
    expect(answers.map(({ status }) => status)).toEqual(bodies.map(() => 200))
    const winner = sha256(new Uint8Array(await (await fetch(urls.download)).arrayBuffer()))
    expect(bodies.map(sha256)).toContain(winner)
    const after = await leftovers(instance.gateway)
    expect([after.writing, after.incoming]).toEqual([[], []])
    expect(after.held.length - before.held.length).toBe(1)
    expect(after.released.length - before.released.length).toBe(19)
    expect(after.held).toContain((await rowOf(instance, locker, 'a.txt')).object_id)

    instance.clock.advance(3600)
    while ((await sweepObjects(instance.gateway.context)) > 0);
    const swept = await leftovers(instance.gateway)
    expect([swept.released, swept.onDisk.toSorted()]).toEqual([[], swept.held.toSorted()])
  })

  it('T-17 ADD-60 of concurrent uploads without overwrite, one is stored and the others change nothing', async () => {
    const before = await leftovers(instance.gateway)
    const bodies = Array.from({ length: 10 }, (_, i) => `upload ${i}`)
    // Each session has a file of its own beside the one that all of them write.
    const files = (i: number) => ({
      files: [
        { filename: 'wanted.bin', overwrite: false },
        { filename: `own-${i}.bin`, overwrite: false },
      ],
    })
    const sessions = await Promise.all(bodies.map((_, i) => openTestSession(instance, locker, files(i))))
    await Promise.all(
      sessions.map(async (session, i) => {
        for (const file of [0, 1]) expect((await session.raw(0, bodies[i]!, { file })).status).toBe(200)
      }),
    )
    const finalize = () => Promise.all(sessions.map((session, i) => session.at(i % 2 ? instance : other).finalize()))
    const finalized = (await finalize()).map(({ body }) => body)
    const winner = finalized.findIndex(({ status }) => status === 'complete')
    for (const [i, { status, files }] of finalized.entries()) {
      const isWinner = i === winner
      expect(status).toBe(isWinner ? 'complete' : 'partial')
      expect(files).toMatchObject([isWinner ? { ok: true } : { ok: false, error: 'PRECONDITION_FAILED' }, { ok: true }])
    }
    expect((await finalize()).map(({ body }) => body)).toEqual(finalized)
    expect(String(await publicBytes(instance, locker, 'wanted.bin'))).toBe(bodies[winner])
    const after = await leftovers(instance.gateway)
    expect([after.writing, after.incoming]).toEqual([[], []])
    expect(after.held.length - before.held.length).toBe(1 + bodies.length)

    const alone = await openTestSession(instance, locker, { files: [{ filename: 'lost.bin', overwrite: false }] })
    expect((await alone.raw(0, 'mine')).status).toBe(200)
    await locker.put('lost.bin', 'theirs')
    const lost = { status: 'failed', files: [{ ok: false, error: 'PRECONDITION_FAILED' }] }
    for (const _ of [1, 2]) expect((await alone.finalize()).body).toMatchObject(lost)
    expect(String(await publicBytes(instance, locker, 'lost.bin'))).toBe('theirs')

    // A later session is refused before the first byte.
    const late = await locker.call(['locker:write'], 'POST', '/upload-sessions', files(99))
    expectRefusal(late, 412, 'PRECONDITION_FAILED')
    expect(late.body).toMatchObject({ details: { filename: 'wanted.bin' } })
  })

  it.each(['replaced', 'deleted'])(
    'AMB-24 a reader receives all bytes of a file that is %s meanwhile',
    { tags: ['nightly'] },
    async (how) => {
      const bytes = randomBytes(16 * MEBIBYTE)
      expect((await put(urls.upload, bytes)).status).toBe(200)
      const { promise, resolve } = Promise.withResolvers<IncomingMessage>()
      get(at(other, urls.download), resolve)
      const reading = await promise
      const changed =
        how === 'replaced' ? await put(urls.upload, 'new') : await fetch(urls.remove, { method: 'DELETE' })
      expect(changed.status).toBe(200)
      const now = await (await fetch(at(other, urls.download))).text()
      expect(now).toContain(how === 'replaced' ? 'new' : 'FILE_NOT_FOUND')
      expect(sha256(await buffer(reading))).toBe(sha256(bytes))
    },
  )

  it('AMB-24 uploads that race with a deletion are stored or refused, and a refused one leaves nothing', async () => {
    const uploads = Array.from({ length: 10 }, (_, i) =>
      put(at(i % 2 ? instance : other, urls.upload), randomBytes(300_000)),
    )
    const removal = fetch(at(other, urls.remove), { method: 'DELETE' })
    const statuses = (await Promise.all(uploads)).map(({ status }) => status)
    expect((await removal).status).toBe(200)
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([])
    const rows = await instance.gateway.context.database.db.selectFrom('files').select('object_id').execute()
    const after = await leftovers(instance.gateway)
    expect([after.writing, after.incoming]).toEqual([[], []])
    expect(after.held.toSorted()).toEqual(rows.flatMap(({ object_id }) => object_id ?? []).toSorted())
  })
})
