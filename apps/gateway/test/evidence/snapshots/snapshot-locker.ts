// A locker in a test database, with files written directly into its tables.

import { randomBytes } from 'node:crypto'
import type { Database } from '@svc/database/open'
import type { TestDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import type { ObjectKey } from '@svc/storage/provider'
import { migrations } from '../../../src/db/migrations.ts'
import type { Db, FileRow, Schema } from '../../../src/db/schema.ts'
import type { SnapshotFile } from '../../../src/evidence/snapshots/chunk-content.ts'
import type { Snapshot } from '../../../src/evidence/snapshots/make-snapshot.ts'
import { snapshotFiles } from '../../../src/evidence/snapshots/read-snapshot.ts'
import { insertSnapshot } from '../../../src/evidence/snapshots/store.ts'
import { type SnapshotRequest, takeSnapshotHere } from '../../../src/evidence/snapshots/take-snapshot.ts'
import { changeManifest } from '../../../src/files/store.ts'

export interface TestLocker {
  db: Db
  lockerId: string
  /** Adds confirmed files. An existing name is replaced. */
  put(files: readonly SnapshotFile[]): Promise<void>
  /** Adds names without bytes. */
  announce(names: readonly string[]): Promise<void>
  remove(names: readonly string[]): Promise<void>
  /** Requests a snapshot of all files, with none absent. */
  request: SnapshotRequest
  /** Takes a snapshot in this thread and inserts its row. */
  snapshot(changes?: Partial<SnapshotRequest>): Promise<Snapshot>
  /** Makes it the snapshot of the newest statement, with which the next one is compared; null removes that. */
  state(snapshot: Snapshot | null): Promise<void>
}

const databases = new WeakMap<TestDatabase, Promise<Database<Schema>>>()

export const objectOf = (filename: string): ObjectKey => ({ id: Buffer.from(filename).toString('hex'), ref: null })

export async function openTestLocker(database: TestDatabase): Promise<TestLocker> {
  const opened = databases.get(database) ?? database.openMigrated<Schema>(migrations)
  databases.set(database, opened)
  const { db, commit } = await opened
  const lockerId = `locker_${randomBytes(6).toString('hex')}`
  await writable(db).insertInto('lockers').values(lockerRow(lockerId)).execute()
  const request = { db, commit, databaseUrl: database.url, lockerId, findAbsent: async () => new Set<string>() }

  async function write(rows: FileRow[]): Promise<void> {
    const names = rows.map(({ filename }) => filename)
    await remove(names)
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        for (let start = 0; start < rows.length; start += 1000) {
          await tx
            .insertInto('files')
            .values(rows.slice(start, start + 1000))
            .execute()
        }
        await changeManifest(tx, lockerId, { at: AT, files: rows.length })
      })
  }

  async function remove(names: readonly string[]): Promise<void> {
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        let gone = 0n
        for (let start = 0; start < names.length; start += 1000) {
          const some = names.slice(start, start + 1000)
          const { numDeletedRows } = await tx
            .deleteFrom('files')
            .where('locker_id', '=', lockerId)
            .where('filename', 'in', some)
            .executeTakeFirstOrThrow()
          gone += numDeletedRows
        }
        if (gone > 0n) await changeManifest(tx, lockerId, { at: AT, files: -Number(gone) })
      })
  }

  return {
    db,
    lockerId,
    request,
    remove,
    put: (files) => write(files.map((file) => fileRow(lockerId, file))),
    announce: (names) => write(names.map((filename) => fileRow(lockerId, { filename, content_type: 'text/plain' }))),
    async snapshot(changes) {
      const snapshot = await takeSnapshotHere({ ...request, ...changes })
      if (!snapshot) throw new Error('there is no file to attest')
      await insert(db, snapshot)
      return snapshot
    },
    async state(snapshot) {
      const receipt_id = `receipt of ${lockerId}`
      for (const table of ['statements', 'attestations'] as const)
        await writable(db).deleteFrom(table).where('receipt_id', '=', receipt_id).execute()
      if (!snapshot) return
      await insert(db, snapshot)
      const statement = { snapshot_key: snapshot.key, statement_digest: null, record: '{}', anchor: null, issued_at: 0 }
      const named = { receipt_id, locker_id: lockerId, sequence: 1 }
      await writable(db)
        .insertInto('statements')
        .values({ ...named, ...statement })
        .execute()
      await writable(db).insertInto('attestations').values(named).execute()
    },
  }
}

export async function insert(db: Db, snapshot: Snapshot): Promise<void> {
  await writable(db)
    .transaction()
    .execute((tx) => insertSnapshot(tx, snapshot.row))
}

export async function filesIn(db: Db, { key }: Snapshot): Promise<SnapshotFile[]> {
  const files: SnapshotFile[] = []
  for await (const some of snapshotFiles(db, key)) files.push(...some)
  return files
}

const AT = '2026-09-01T12:00:00Z'

function fileRow(
  locker_id: string,
  file: Pick<SnapshotFile, 'filename' | 'content_type'> & Partial<SnapshotFile>,
): FileRow {
  const { filename, content_type, size_bytes = null, content_hash = null } = file
  const object_id = content_hash && objectOf(filename).id
  return {
    locker_id,
    filename,
    content_type,
    expected_hash: null,
    object_id,
    provider_ref: null,
    object_bytes: null,
    size_bytes,
    content_hash,
    uploaded_at: null,
    hash_recorded_at: null,
    upload_content_type: content_type,
    upload_expected_hash: null,
    upload_object_id: null,
    metadata: null,
  }
}

function lockerRow(locker_id: string) {
  return {
    locker_id,
    receipt_id: `receipt of ${locker_id}`,
    owner: 'owner',
    network: 'primary-mainnet',
    provider: 'gcs',
    tags: '[]',
    terms: '{}',
    created_at: AT,
    expires_at: AT,
    operators: '[]',
    manifest_version: 0,
    manifest_changed_at: null,
    file_count: 0,
    total_bytes: 0,
    delivered_bytes: 0,
  }
}
