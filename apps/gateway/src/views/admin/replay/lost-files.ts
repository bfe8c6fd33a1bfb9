// The journal has lists of files, but no files. A file that a replayed statement names and this database lacks was
// uploaded after the backup: its owner has to upload it again.

import { bare } from '@svc/protocol/bytes'
import type { Db } from '../../../db/schema.ts'
import type { SnapshotFile } from '../../../evidence/snapshots/chunk-content.ts'
import { snapshotFiles } from '../../../evidence/snapshots/read-snapshot.ts'

export interface LostFiles {
  /** Some of the lockers with lost files. */
  lockers: { lockerId: string; lost: number; of: number }[]
  /** How many more lockers have lost files. */
  others: number
}

const MAX_NAMED = 100
const AT_ONCE = 100

/** Checks lockers whose newest statement was replayed and that were not attested since. */
export async function findLostFiles(db: Db): Promise<LostFiles> {
  const found: LostFiles = { lockers: [], others: 0 }
  for await (const { locker_id, snapshot_key } of replayedStatements(db)) {
    let of = 0
    let lost = 0
    for await (const files of snapshotFiles(db, snapshot_key)) {
      of += files.length
      lost += await countLost(db, locker_id, files)
    }
    if (lost === 0) continue
    if (found.lockers.length < MAX_NAMED) found.lockers.push({ lockerId: locker_id, lost, of })
    else found.others++
  }
  return found
}

async function* replayedStatements(db: Db): AsyncGenerator<{ locker_id: string; snapshot_key: string }> {
  for (let after = ''; ; ) {
    const page = await db
      .selectFrom('attestations as a')
      .innerJoin('statements as s', (join) =>
        join.onRef('s.receipt_id', '=', 'a.receipt_id').onRef('s.sequence', '=', 'a.sequence'),
      )
      .select(['a.receipt_id', 'a.locker_id', 's.snapshot_key'])
      .where('a.manifest_version', 'is', null)
      .where('a.receipt_id', '>', after)
      .orderBy('a.receipt_id')
      .limit(AT_ONCE)
      .execute()
    yield* page
    const last = page.at(-1)
    if (!last) return
    after = last.receipt_id
  }
}

async function countLost(db: Db, lockerId: string, listed: readonly SnapshotFile[]): Promise<number> {
  const rows = await db
    .selectFrom('files')
    .select(['filename', 'content_hash'])
    .where('locker_id', '=', lockerId)
    .where(
      'filename',
      'in',
      listed.map(({ filename }) => filename),
    )
    .execute()
  const hashes = new Map(rows.map(({ filename, content_hash }) => [filename, content_hash]))
  return listed.filter(({ filename, content_hash }) => bare(hashes.get(filename) ?? '') !== bare(content_hash)).length
}
