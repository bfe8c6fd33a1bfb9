import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
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
    await opened.db.insertInto('lockers').values(locker).execute()
    if (filenames.length > 0) await add(locker, filenames)
    return locker
  }

  const add = (locker: Locker, filenames: readonly string[], contentType = 'text/plain') =>
    opened.db.transaction().execute(async (tx) => {
      const rows = filenames.map((filename) => newFile(locker, { filename, contentType, expectedHash: null }))
      const files = (await upsertFiles(tx, rows)).size
      await changeManifest(tx, locker.locker_id, { at: AT, files })
      return files
    })

  it('SHAPE-21 T-06 pages keep each name as it is, in code-point order', async () => {
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

  it('FILE-18 pages of the manifest have the same files and the totals of the locker, also after the last file', async () => {
    const { locker_id } = await lockerOf('manifest', ['b', 'a', '\uffff', '\u{10000}'])
    const { facts, files } = await pageOfManifest(opened.db, locker_id, 'a', 2)
    expect(facts).toMatchObject({ manifest_version: 1, manifest_changed_at: AT, file_count: 4, total_bytes: 0 })
    expect(files.map(({ filename }) => filename)).toEqual(['b', '\uffff'])
    expect(files[0]).toMatchObject({ filename: 'b', content_type: 'text/plain', size_bytes: null, object_id: null })
    const after = await pageOfManifest(opened.db, locker_id, '\u{10000}', 2)
    expect([after.facts.file_count, after.files]).toEqual([4, []])
  })

  it('FILE-01 AMB-24 requests that share a commit have the effect that they have one after the other', async () => {
    const [one, two] = [await lockerOf('one', ['old']), await lockerOf('two', [])]
    const file = (locker: Locker, filename: string, contentType: string) =>
      newFile(locker, { filename, contentType, expectedHash: null })
    const config = { lockers: { enforcesTerms: false } } as Config
    await addFiles({ database: opened, now: () => Date.parse(AT), config } as Context, [
      [file(two, 'new', 'text/plain'), file(two, '\u{10000}', 'text/plain')],
      [file(one, 'new', 'text/plain')],
      [file(one, 'old', 'text/html'), file(one, '\uffff"', 'text/html')],
      [file(one, 'new', 'text/html')],
      [file(one, 'new', 'text/css')],
    ])
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
