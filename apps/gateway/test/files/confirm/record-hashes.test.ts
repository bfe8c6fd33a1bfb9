import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import type { Kysely } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { migrations } from '../../../src/db/migrations.ts'
import type { Locker, Schema } from '../../../src/db/schema.ts'
import { newFile } from '../../../src/files/name-files.ts'
import { type FileReading, findFile, recordHashes } from '../../../src/files/store.ts'

const AT = '2026-09-01T12:00:00Z'
const NEW = { contentType: 'text/plain', expectedHash: null }

forEachDatabaseInGate('recording hashes', (database) => {
  let db: Kysely<Schema>
  beforeAll(async () => {
    db = writable((await database.openMigrated<Schema>(migrations)).db)
  })
  beforeEach(async () => {
    await db.deleteFrom('files').execute()
    await put('locker_1', 'f', 'object')
  })

  const put = (locker_id: string, filename: string, object_id: string | null, content_hash: string | null = null) =>
    db
      .insertInto('files')
      .values({ ...newFile({ locker_id } as Locker, { ...NEW, filename }), object_id, content_hash })
      .execute()

  const read = (filename: string, objectId: string): FileReading => ({
    filename,
    objectId,
    size: 5,
    contentHash: `hash of ${objectId}`,
  })
  const record = (...readings: FileReading[]) =>
    db.transaction().execute((tx) => recordHashes(tx, 'locker_1', readings, AT))

  it('FILE-22 recording stores size, hash and time of the object that was read', async () => {
    const reading = read('f', 'object')
    expect(await record(reading)).toEqual([{ ...reading, unconfirmed: 0 }])
    const recorded = { size_bytes: 5, content_hash: 'hash of object', hash_recorded_at: AT }
    expect(await findFile(db, 'locker_1', 'f')).toMatchObject(recorded)
  })

  it('T-17 recording skips files that point elsewhere, do not exist or have a hash', async () => {
    await put('locker_1', 'recorded', 'known', 'the hash')
    await put('locker_1', 'awaited', null)
    await put('locker_2', 'g', 'of another')
    const stale = [read('f', 'old'), read('gone', 'x'), read('recorded', 'known'), read('awaited', 'y')]
    expect(await record(...stale, read('g', 'of another'))).toEqual([])
    expect(await findFile(db, 'locker_1', 'f')).toMatchObject({ content_hash: null, size_bytes: null })
    expect(await findFile(db, 'locker_1', 'recorded')).toMatchObject({ content_hash: 'the hash' })
    expect(await findFile(db, 'locker_2', 'g')).toMatchObject({ content_hash: null })
  })

  it('T-17 concurrent recordings of the same file count once', async () => {
    const counts = await Promise.all(Array.from({ length: 10 }, () => record(read('f', 'object'))))
    expect(counts.flat()).toHaveLength(1)
  })

  it('T-17 concurrent recordings in different orders do not deadlock', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `${i}`)
    for (const name of names) await put('locker_1', name, name)
    const readings = names.map((name) => read(name, name))
    const counts = await Promise.all([record(...readings), record(...readings.toReversed()), record(...readings)])
    expect(counts.flat()).toHaveLength(40)
  })
})
