import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, expectRefusal, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { pageOfFiles } from '../../src/files/lists/store.ts'
import { moveNames } from '../../src/files/rename-store.ts'
import { findFile, lockFile, lockFiles } from '../../src/files/store.ts'
import { objectRow } from '../adapters/http/transfers.ts'
import { lockerRow, storeFile } from './files.ts'

interface Renamed {
  files: { filename: string; new_filename: string; content_hash: string; replaced: boolean }[]
  count: number
  reattest: string
}

forEachDatabase('renaming files', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url, AUTO_REATTEST: 'true' }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))

  const db = () => instance.gateway.context.database.db
  const rename = (files: object[], more: object = {}) =>
    locker.call<Renamed>(['locker:write'], 'POST', '/files/rename', { files, ...more })
  const to = (filename: string, new_filename: string, more: object = {}) => ({ filename, new_filename, ...more })
  const names = async () => (await pageOfFiles(db(), locker.lockerId, null, 100)).map(({ filename }) => filename)

  it('ADD-22 a renamed file keeps its object, hash, size and times, and the manifest changes once', async () => {
    const before = await storeFile(instance, locker, 'a.txt', 'hello')
    await storeFile(instance, locker, 'folder/b', 'bytes')
    const version = (await lockerRow(instance, locker)).manifest_version
    const { status, body } = await rename([to('a.txt', 'docs/ü.txt'), to('folder/b', 'b')])
    const facts = { size_bytes: 5, content_hash: before.content_hash, replaced: false }
    const files = [to('a.txt', 'docs/ü.txt', facts), expect.objectContaining(to('folder/b', 'b'))]
    const answer = { ok: true, locker_id: locker.lockerId, files, count: 2, reattest: 'queued' }
    expect([status, body]).toEqual([200, answer])
    expect(await findFile(db(), locker.lockerId, 'docs/ü.txt')).toEqual({ ...before, filename: 'docs/ü.txt' })
    expect(await names()).toEqual(['b', 'docs/ü.txt'])
    const changed = { manifest_version: version + 1, file_count: 2, total_bytes: 10 }
    expect(await lockerRow(instance, locker)).toMatchObject(changed)
  })

  it('ADD-22 a URL of the old name opens nothing, and a URL of the new name opens the same bytes', async () => {
    await storeFile(instance, locker, 'old', 'hello')
    const urlOf = async (name: string) =>
      (await locker.call<{ download_url: string }>(['locker:read'], 'GET', `/files/${name}`)).body.download_url
    const old = await urlOf('old')
    await rename([to('old', 'new')])
    expect((await fetch(old)).status).toBe(404)
    expect(await (await fetch(await urlOf('new'))).text()).toBe('hello')
  })

  it('ADD-22 with AUTO_REATTEST a rename of confirmed files queues a new statement', async () => {
    await storeFile(instance, locker, 'a', 'hello')
    await locker.call(['locker:write'], 'POST', '/files', { filename: 'awaited' })
    expect((await rename([to('a', 'b')])).body.reattest).toBe('queued')
    expect((await rename([to('awaited', 'c')])).body.reattest).toBe('skipped')
  })

  it('ADD-22 an existing name is refused unless the caller overwrites it, which releases its object', async () => {
    await storeFile(instance, locker, 'a', 'hello')
    const { object_id } = await storeFile(instance, locker, 'b', 'longer bytes')
    const before = await lockerRow(instance, locker)
    expectRefusal(await rename([to('a', 'b')]), 412, 'PRECONDITION_FAILED')
    expect(await lockerRow(instance, locker)).toEqual(before)
    const { body } = await rename([to('a', 'b')], { overwrite: true })
    expect(body.files[0]).toMatchObject({ new_filename: 'b', replaced: true })
    expect(await names()).toEqual(['b'])
    expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 1, total_bytes: 5 })
    expect(await objectRow(instance, object_id)).toMatchObject({ state: 'released' })
  })

  it('ADD-22 T-56 bytes of a replaced file that was not confirmed no longer count', async () => {
    await storeFile(instance, locker, 'a', 'hello')
    await storeFile(instance, locker, 'b', 'longer bytes', { isConfirmed: false })
    await storeFile(instance, locker, 'c', 'kept', { isConfirmed: false })
    expect(await lockerRow(instance, locker)).toMatchObject({ unconfirmed_bytes: 16 })
    expect((await rename([to('a', 'b'), to('c', 'd')], { overwrite: true })).status).toBe(200)
    expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 2, total_bytes: 5, unconfirmed_bytes: 4 })
  })

  it('ADD-22 one file that cannot be renamed fails the whole request, and nothing changes', async () => {
    await storeFile(instance, locker, 'a', 'hello')
    await storeFile(instance, locker, 'b', 'bytes')
    const before = await lockerRow(instance, locker)
    const other = `sha256:${'0'.repeat(64)}`
    expectRefusal(await rename([to('a', 'c'), to('missing', 'd')]), 404, 'FILE_NOT_FOUND')
    expectRefusal(await rename([to('a', 'c'), to('b', 'd', { expected_hash: other })]), 412, 'PRECONDITION_FAILED')
    expect([await names(), await lockerRow(instance, locker)]).toEqual([['a', 'b'], before])
    const { content_hash } = (await findFile(db(), locker.lockerId, 'a'))!
    expect((await rename([to('a', 'c', { expected_hash: content_hash })])).status).toBe(200)
  })

  it.each([
    ['a name that leaves its folder', [to('a', '../x')]],
    ['the same name', [to('a', 'a')]],
    ['one file twice', [to('a', 'x'), to('a', 'y')]],
    ['two files of one name', [to('a', 'x'), to('b', 'x')]],
    ['a chain of names', [to('a', 'b'), to('b', 'c')]],
    ['an invalid hash', [to('a', 'x', { expected_hash: 'sha256:12' })]],
    ['nothing', []],
  ])('ADD-22 T-06 %s answers 422 and changes nothing', async (_, files) => {
    await storeFile(instance, locker, 'a', 'hello')
    await storeFile(instance, locker, 'b', 'bytes')
    expectRefusal(await rename(files), 422, 'validation_error')
    expect(await names()).toEqual(['a', 'b'])
  })

  it('ADD-22 of two files that are renamed to one name, one gets it, and the counts stay right', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((name) => storeFile(instance, locker, name, name)))
    const replies = await Promise.all(['a', 'b', 'c', 'd'].map((name) => rename([to(name, 'same')])))
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412, 412])
    expect((await names()).length).toBe(4)
    expect(await lockerRow(instance, locker)).toMatchObject({ file_count: 4, total_bytes: 4 })
  })

  // SQLite has one writer, so no request waits for a row.
  if (database.dialect === 'postgres')
    it('T-17 a request that waits for a file does not lock it after it is renamed', async () => {
      const { lockerId } = locker
      for (const name of ['a', 'z']) await storeFile(instance, locker, name, name)
      const unlocked = async () => {
        const files = writable(db()).selectFrom('files').select('filename').where('locker_id', '=', lockerId)
        return (await files.forUpdate().skipLocked().execute()).map(({ filename }) => filename)
      }
      const isWaiting = async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db())
        return rows.length > 0
      }
      const renaming = await writable(db()).startTransaction().execute()
      await lockFiles(renaming, lockerId, ['a', 'z'])
      await moveNames(renaming, lockerId, [{ filename: 'a', newFilename: 'z' }])
      const waiting = writable(db())
        .transaction()
        .execute(async (tx) => [await lockFile(tx, lockerId, 'a'), await unlocked()])
      await expect.poll(isWaiting, { interval: 20 }).toBe(true)
      await renaming.commit().execute()
      expect(await waiting).toEqual([null, ['z']])
    })

  it('ADD-22 T-17 concurrent renames, creates and deletes of the same names neither deadlock nor lose a file', async () => {
    const all = Array.from({ length: 20 }, (_, i) => `${i}`)
    for (const name of all) await storeFile(instance, locker, name, name)
    const there = all.map((name) => to(name, `x${name}`))
    const back = all.toReversed().map((name) => to(`x${name}`, name))
    const create = () =>
      locker.call(['locker:write'], 'POST', '/files/batch', {
        files: ['x3', '5', 'x7'].map((filename) => ({ filename })),
      })
    const rounds = Array.from({ length: 4 }, () => [
      rename(there, { overwrite: true }),
      create(),
      rename(back, { overwrite: true }),
      locker.call(['locker:write'], 'DELETE', '/files/x3'),
    ])
    const replies = await Promise.all(rounds.flat())
    for (const { status } of replies) expect([200, 404, 412]).toContain(status)
    const { file_count, total_bytes } = await lockerRow(instance, locker)
    const files = await pageOfFiles(db(), locker.lockerId, null, 100)
    expect(file_count).toBe(files.length)
    expect(total_bytes).toBe(files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0))
  })
})
