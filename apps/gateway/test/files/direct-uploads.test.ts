// Clients upload straight to a provider, at two gateways that share a database and a store.

import { Readable } from 'node:stream'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, openTestGateway, type TestGateway } from '@svc/devnet/services/test-gateway'
import { expect, it } from 'vitest'
import { abandonUpload, adoptUpload, currentBytes } from '../../src/files/direct-uploads.ts'
import { findDirectUpload } from '../../src/files/object-store.ts'
import { sweepObjects } from '../../src/files/sweep-objects.ts'
import { createFile, put, rowOf, sha256 } from '../adapters/http/transfers.ts'
import { confirm as confirmIn, watchedStorage } from './confirm/confirm.ts'
import { lockerRow, storeFile } from './files.ts'

forEachDatabase('direct uploads', (database) => {
  /** The objects that clients were redirected to, in order. */
  const sent: string[] = []
  const storage = forAllTests(watchedStorage)
  const store = () => storage.providers.named('gcs')
  const open = () => {
    const uploadTarget = async (id: string) => {
      sent.push(id)
      return { url: `https://provider.example/${id}`, headers: {} }
    }
    const variables = { DATABASE_URL: database.url, STORAGE_DIR: storage.folder }
    return openTestGateway(variables, { providers: onlyProvider({ ...store(), uploadTarget }) })
  }
  const instances = [forAllTests(open), forAllTests(open)] as const
  const locker = forEachTest(() => instances[0].locker(ed25519Identity()))

  async function beginUpload(filename: string, promised = {}): Promise<string> {
    const { upload } = await createFile(instances[0], locker, filename, promised)
    expect((await put(upload, '')).status).toBe(307)
    return sent.at(-1) as string
  }

  const arrive = (id: string, text: string) =>
    store().write(id, Readable.from([Buffer.from(text)]), { contentType: 'text/plain', size: null })
  const confirm = (instance: TestGateway, filename: string) => confirmIn(instance, locker, filename)
  const pass = (seconds: number) => instances.map((instance) => instance.clock.advance(seconds))
  const sweep = (instance: TestGateway) => sweepObjects(instance.gateway.context)
  const objectOf = (id: string) => store().stat({ id, ref: null })

  it('FILE-22 do not cause confirmed bytes to be read again while they are pending', async () => {
    await storeFile(instances[0], locker, 'f', 'known')
    await beginUpload('f')
    const reads = storage.reads.length
    expect((await confirm(instances[0], 'f')).body).toMatchObject({ content_hash: `sha256:${sha256('known')}` })
    expect(storage.reads).toHaveLength(reads)
  })

  it('T-50 T-17 sweeps and confirmations at the same moment keep every accepted upload', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `file-${i}`)
    const ids: string[] = []
    for (const name of names) {
      const id = await beginUpload(name)
      await arrive(id, name)
      ids.push(id)
    }
    pass(49 * 3600)
    const [first, second] = instances
    const confirmed = names.map((name, i) => confirm(i % 2 ? first : second, name))
    await Promise.all([sweep(first), sweep(second), ...confirmed, sweep(first)])
    for (const [i, name] of names.entries()) {
      expect((await confirmed[i])?.body).toMatchObject({ content_hash: `sha256:${sha256(name)}` })
      expect(await rowOf(first, locker, name)).toMatchObject({ object_id: ids[i], upload_object_id: null })
    }
    pass(49 * 3600)
    while ((await sweep(second)) > 0);
    for (const id of ids) expect(await objectOf(id)).not.toBeNull()
  })

  it('T-17 T-50 a reader that began before another gateway adopted the upload finds its bytes', async () => {
    const id = await beginUpload('read')
    const { context } = instances[0].gateway
    const before = await rowOf(instances[0], locker, 'read')
    await arrive(id, 'accepted')
    expect((await confirm(instances[1], 'read')).status).toBe(200)
    const found = await currentBytes(context, await lockerRow(instances[0], locker), before)
    expect(found).toMatchObject({ key: { id }, file: { content_hash: `sha256:${sha256('accepted')}` } })
  })

  it('T-50 an upload that never arrives is abandoned, and its file expects no bytes any more', async () => {
    const id = await beginUpload('never')
    pass(49 * 3600)
    await Promise.all(instances.map(sweep))
    expect(await rowOf(instances[0], locker, 'never')).toMatchObject({ object_id: null, upload_object_id: null })
    const { db } = instances[0].gateway.context.database
    for (const table of ['objects', 'direct_uploads'] as const)
      expect(await db.selectFrom(table).select('object_id').where('object_id', '=', id).execute()).toEqual([])
  })

  it('T-50 AMB-24 the newest of several arrived uploads counts, in any order of arrival', async () => {
    const [first, second, third] = [await beginUpload('f'), await beginUpload('f'), await beginUpload('f')]
    const expectFile = async (bytes: string, object_id: string, upload_object_id: string | null) => {
      expect((await confirm(instances[1], 'f')).body.content_hash).toBe(`sha256:${sha256(bytes)}`)
      expect(await rowOf(instances[0], locker, 'f')).toMatchObject({ object_id, upload_object_id })
    }
    await arrive(first, 'one')
    await expectFile('one', first, third)
    await arrive(third, 'three')
    await expectFile('three', third, null)
    await arrive(second, 'two')
    pass(49 * 3600)
    while ((await sweep(instances[1])) > 0);
    await expectFile('three', third, null)
    expect([await objectOf(second), await objectOf(third)]).toEqual([null, expect.anything()])
  })

  const restrict = (restriction: string) =>
    instances[0].send('PUT', `/v1/internal/operations/lockers/${locker.lockerId}/restriction`, {
      restriction,
      reason: 'order 17 of a court',
    })

  it.for(['frozen', 'taken_down'])('T-50 arrived bytes stay while the locker is %s', async (restriction) => {
    const id = await beginUpload('kept')
    expect((await restrict(restriction)).status).toBe(200)
    await arrive(id, 'evidence')
    for (let i = 0; i < 3; i++) {
      pass(49 * 3600)
      await Promise.all(instances.map(sweep))
      expect(await objectOf(id)).not.toBeNull()
    }
    expect(await rowOf(instances[0], locker, 'kept')).toMatchObject({ object_id: null, upload_object_id: id })
    // A reader that began before the restriction was set.
    const upload = await findDirectUpload(instances[0].gateway.context.database.db, id)
    const { context } = instances[0].gateway
    const before = { ...(await lockerRow(instances[0], locker)), restriction: null }
    expect(await adoptUpload(context, before, upload!)).toEqual({ outcome: 'waiting' })

    expect((await restrict('none')).status).toBe(200)
    expect((await confirm(instances[1], 'kept')).body.content_hash).toBe(`sha256:${sha256('evidence')}`)
  })

  const rename = (filename: string, new_filename: string) =>
    locker.call(['locker:write'], 'POST', '/files/rename', { files: [{ filename, new_filename }], overwrite: true })

  it('T-50 ADD-22 arrived and pending uploads belong to the file under its new name', async () => {
    const { upload } = await createFile(instances[0], locker, 'old')
    const arrived = await beginUpload('old')
    const inProgress = await beginUpload('old')
    await arrive(arrived, 'accepted')
    expect((await rename('old', 'new')).status).toBe(200)
    expect((await put(upload, '')).status).toBe(404)
    expect((await confirm(instances[1], 'new')).body.content_hash).toBe(`sha256:${sha256('accepted')}`)
    await arrive(inProgress, 'later')
    pass(49 * 3600)
    await Promise.all(instances.map(sweep))
    expect(await rowOf(instances[0], locker, 'new')).toMatchObject({ object_id: inProgress, upload_object_id: null })
  })

  it('T-50 ADD-22 bytes sent to a file that a rename replaced never become the new file', async () => {
    const moved = await beginUpload('moved')
    const replaced = await beginUpload('taken')
    await arrive(moved, 'moved')
    expect((await rename('moved', 'taken')).status).toBe(200)
    await arrive(replaced, 'replaced')
    pass(49 * 3600)
    await Promise.all(instances.map(sweep))
    expect(await rowOf(instances[0], locker, 'taken')).toMatchObject({ object_id: moved, upload_object_id: null })
    expect(await objectOf(replaced)).toBeNull()
  })

  it('T-50 ADD-22 an upload that was found before a rename is not adopted by a new file of the old name', async () => {
    const moved = await beginUpload('name')
    await arrive(moved, 'moved')
    const { context } = instances[0].gateway
    const found = (await findDirectUpload(context.database.db, moved))!
    await rename('name', 'other')
    const pending = await beginUpload('name')
    const row = await lockerRow(instances[0], locker)
    await adoptUpload(context, row, found)
    expect(await abandonUpload(context, row, found)).toBe(false)
    expect(await rowOf(instances[0], locker, 'name')).toMatchObject({ object_id: null, upload_object_id: pending })
    expect((await confirm(instances[1], 'other')).body.content_hash).toBe(`sha256:${sha256('moved')}`)
  })

  it('T-36 T-17 after an operator is removed, none of their uploads appears at either gateway', async () => {
    const operator = ed25519Identity()
    const { identity: pubkey } = operator
    await locker.call(['locker:admin'], 'POST', '/operators', { pubkey })
    const names = Array.from({ length: 8 }, (_, i) => `file-${i}`)
    const urls = await Promise.all(
      names.map((name, i) => createFile(instances[(i % 2) as 0 | 1], locker, name, {}, operator)),
    )
    const uploads = urls.map(({ upload }) => put(`${upload}?proxy=1`, 'defaced'))
    const removed = await locker.call(['locker:admin'], 'DELETE', `/operators/${pubkey}`)
    expect(removed.status).toBe(200)
    const stored = async () => {
      const rows = await Promise.all(names.map((name) => rowOf(instances[0], locker, name)))
      return rows.filter(({ uploaded_at }) => uploaded_at !== null).map(({ filename }) => filename)
    }
    const before = await stored()
    const statuses = (await Promise.all(uploads)).map(({ status }) => status)
    expect(await stored()).toEqual(before)
    expect(names.filter((_, i) => statuses[i] === 200)).toEqual(before)
    for (const status of statuses) expect([200, 403]).toContain(status)
  })
})
