import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests, forEachTest } from '@svc/devnet/for-tests'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { writable } from '@svc/devnet/writable'
import { compareCodePoints } from '@svc/protocol/order'
import { HOSTILE_FILENAMES } from '@svc/protocol/test/filenames'
import { expect, it } from 'vitest'
import type { Config } from '../../src/config.ts'
import type { Context } from '../../src/context.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Locker, Schema } from '../../src/db/schema.ts'
import { addFiles } from '../../src/files/add-files.ts'
import { pageOfFiles, pageOfManifest } from '../../src/files/lists/store.ts'
import { newFile } from '../../src/files/name-files.ts'
import { changeManifest, findFile, upsertFiles } from '../../src/files/store.ts'
import { NEW_ACCESS } from '../../src/lockers/access.ts'
import { confirmBatch } from './confirm/confirm.ts'
import { lockerRow, storeFile } from './files.ts'

const AT = '2026-09-01T12:00:00Z'

function lockerNamed(name: string): Locker {
  return {
    locker_id: `locker_${name}`,
    receipt_id: `rcpt_${name}`,
    owner: 'owner',
    network: 'primary-mainnet',
    provider: 'gcs',
    tags: '[]',
    terms: '{}',
    created_at: AT,
    expires_at: AT,
    ...NEW_ACCESS,
    anchoring: 'each',
    manifest_version: 0,
    manifest_changed_at: null,
    file_count: 0,
    total_bytes: 0,
    unconfirmed_bytes: 0,
    delivered_bytes: 0,
  }
}

forEachDatabaseInGate('files by name', (database) => {
  const opened = forAllTests(() => database.openMigrated<Schema>(migrations))

  async function lockerOf(name: string, filenames: readonly string[]): Promise<Locker> {
    const locker = lockerNamed(name)
    await writable(opened.db).insertInto('lockers').values(locker).execute()
    if (filenames.length > 0) await add(locker, filenames)
    return locker
  }

  const add = (locker: Locker, filenames: readonly string[], contentType = 'text/plain') =>
    writable(opened.db)
      .transaction()
      .execute(async (tx) => {
        const rows = filenames.map((filename) => newFile(locker, { filename, contentType, expectedHash: null }))
        const files = (await upsertFiles(tx, rows)).size
        await changeManifest(tx, locker.locker_id, { at: AT, files })
        return files
      })

  it('FILE-13 T-06 pages return each name unchanged, in code-point order', async () => {
    const names = HOSTILE_FILENAMES.filter(({ accepted }) => accepted).map(({ name }) => name)
    const { locker_id } = await lockerOf('hostile', names)
    await lockerOf('hostile_too', ['a'])
    const read: string[] = []
    for (;;) {
      const files = await pageOfFiles(opened.db, locker_id, read.at(-1) ?? null, 100)
      if (files.length === 0) break
      read.push(...files.map(({ filename }) => filename))
    }
    expect(read).toEqual(names.toSorted(compareCodePoints))
  })

  it('FILE-18 pages of the manifest have the same files and the totals of the locker, even after the last file', async () => {
    const { locker_id } = await lockerOf('manifest', ['b', 'a', '\uffff', '\u{10000}'])
    const { facts, files } = await pageOfManifest(opened.db, locker_id, 'a', 2)
    expect(facts).toMatchObject({ manifest_version: 1, manifest_changed_at: AT, file_count: 4, total_bytes: 0 })
    expect(files.map(({ filename }) => filename)).toEqual(['b', '\uffff'])
    expect(files[0]).toMatchObject({ filename: 'b', content_type: 'text/plain', size_bytes: null, object_id: null })
    const after = await pageOfManifest(opened.db, locker_id, '\u{10000}', 2)
    expect([after.facts.file_count, after.files]).toEqual([4, []])
  })

  it('FILE-01 AMB-24 requests that share a commit have the same effect as in sequence', async () => {
    const [one, two] = [await lockerOf('one', ['old']), await lockerOf('two', [])]
    const file = (locker: Locker, filename: string, contentType: string) =>
      newFile(locker, { filename, contentType, expectedHash: null })
    const config = { lockers: { enforcesTerms: false } } as Config
    await opened.commit((tx) =>
      addFiles(tx, { now: () => Date.parse(AT), config } as Context, [
        [file(two, 'new', 'text/plain'), file(two, '\u{10000}', 'text/plain')],
        [file(one, 'new', 'text/plain')],
        [file(one, 'old', 'text/html'), file(one, '\uffff"', 'text/html')],
        [file(one, 'new', 'text/html')],
        [file(one, 'new', 'text/css')],
      ]),
    )
    const filesOf = async ({ locker_id }: Locker) => {
      const { facts, files } = await pageOfManifest(opened.db, locker_id, null, 9)
      const rows = await Promise.all(files.map(({ filename }) => findFile(opened.db, locker_id, filename)))
      const named = rows.map((file) => [file?.filename, file?.content_type, file?.upload_content_type])
      return [facts.file_count, facts.manifest_version, ...named]
    }
    expect(await filesOf(one)).toEqual([
      3,
      3,
      ['new', 'text/plain', 'text/css'],
      ['old', 'text/plain', 'text/html'],
      ['\uffff"', 'text/html', 'text/html'],
    ])
    expect(await filesOf(two)).toEqual([
      2,
      1,
      ['new', 'text/plain', 'text/plain'],
      ['\u{10000}', 'text/plain', 'text/plain'],
    ])
  })
})

forEachDatabaseInGate('concurrent requests in one locker', (database) => {
  const instance = forAllTests(() => openTestGateway({ DATABASE_URL: database.url }))
  const locker = forEachTest(() => instance.locker(ed25519Identity()))

  const statusOf = async (method: string, path: string, body?: object) =>
    (await locker.call(['locker:write'], method, path, body)).status
  const create = (filename: string) => statusOf('POST', '/files', { filename })
  const createAll = (names: readonly string[]) =>
    statusOf('POST', '/files/batch', { files: names.map((filename) => ({ filename })) })
  const remove = (filename: string) => statusOf('DELETE', `/files/${filename}`)

  /** Compares the locker's totals with its files. */
  async function counted() {
    const { file_count, total_bytes, manifest_version } = await lockerRow(instance, locker)
    const files = await pageOfFiles(instance.gateway.context.database.db, locker.lockerId, null, 10_000)
    expect(file_count).toBe(files.length)
    expect(total_bytes).toBe(files.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0))
    return { file_count, manifest_version }
  }

  it('FILE-01 concurrent creates make a file for each name, and a refused one does not fail the others', async () => {
    const names = Array.from({ length: 40 }, (_, i) => (i % 10 === 0 ? '../refused' : `${i % 20}`))
    const statuses = await Promise.all(names.map(create))
    expect(statuses).toEqual(names.map((name) => (name === '../refused' ? 422 : 200)))
    expect(await counted()).toEqual({ file_count: 18, manifest_version: 18 })
  })

  it('FILE-12 concurrent batches of the same names in different orders do not deadlock', async () => {
    const names = Array.from({ length: 60 }, (_, i) => `${i}`)
    const orders = Array.from({ length: 4 }, (_, i) => [...names.slice(i * 7), ...names.slice(0, i * 7)])
    const statuses = await Promise.all(orders.flatMap((order) => [createAll(order), createAll(order.toReversed())]))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await counted()).toEqual({ file_count: 60, manifest_version: 1 })
  })

  it('FILE-16 one of many concurrent deletes succeeds, and the bytes are subtracted once', async () => {
    await storeFile(instance, locker, 'a', 'hello')
    await storeFile(instance, locker, 'b', 'bytes that stay')
    const statuses = await Promise.all(Array.from({ length: 10 }, () => remove('a')))
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(404)])
    expect(await counted()).toEqual({ file_count: 1, manifest_version: 3 })
  })

  it('FILE-16 FILE-25 concurrent creates, uploads, confirmations and deletes leave the counts right', async () => {
    const names = ['a', 'b', 'c']
    const rounds = Array.from({ length: 6 }, () => [
      createAll(names),
      createAll(names.toReversed()),
      ...names.map((name) => remove(name)),
      confirmBatch(instance, locker, names).then(({ status }) => status),
      confirmBatch(instance, locker, names.toReversed()).then(({ status }) => status),
      ...names.map((name) => storeFile(instance, locker, name, name, { isConfirmed: false }).then(() => 200)),
    ])
    const statuses = await Promise.all(rounds.flat())
    expect(statuses.filter((status) => status !== 200 && status !== 404)).toEqual([])
    await counted()
  })
})
