// Queries that rename files.

import { inJsonRows, itemText, jsonRows, prepared } from '@svc/database/prepared'
import type { FileRow, Tx } from '../db/schema.ts'

/**
 * Deletes the files that had the new names, with their pending uploads, and moves the content of the renamed files.
 * Direct uploads move with their file. The caller holds the locks of all names, old and new, which exist.
 * ¶ A row keeps its name permanently, and its content moves to the row of the new name. PostgreSQL gives a waiting
 * transaction the lock of the row's current version: if rows changed their names, the waiter would hold a lock on a
 * name that it did not request, and transactions that lock names in order could deadlock (T-17).
 */
export async function moveNames(
  tx: Tx,
  lockerId: string,
  names: readonly { filename: string; newFilename: string }[],
): Promise<void> {
  const replaced = JSON.stringify(names.map(({ newFilename }) => [newFilename]))
  const oldNames = JSON.stringify(names.map(({ filename }) => [filename]))
  const moved = JSON.stringify(names.map(({ filename, newFilename }) => [filename, newFilename]))
  await moveFiles(tx, lockerId, moved)
  await deleteNames.files(tx, lockerId, oldNames)
  await deleteNames.direct_uploads(tx, lockerId, replaced)
  await moveUploads(tx, lockerId, moved)
}

const deleteNamesIn = (table: 'files' | 'direct_uploads') =>
  prepared((tx: Tx, lockerId: string, names: string) =>
    tx
      .deleteFrom(table)
      .where('locker_id', '=', lockerId)
      .where(inJsonRows(tx, 'filename', names)),
  )
const deleteNames = { files: deleteNamesIn('files'), direct_uploads: deleteNamesIn('direct_uploads') }

/** The columns that move with a file, all but its name. */
const CONTENT = {
  content_type: true,
  expected_hash: true,
  object_id: true,
  provider_ref: true,
  object_bytes: true,
  size_bytes: true,
  content_hash: true,
  uploaded_at: true,
  hash_recorded_at: true,
  upload_content_type: true,
  upload_expected_hash: true,
  upload_object_id: true,
  metadata: true,
} satisfies Record<Exclude<keyof FileRow, 'locker_id' | 'filename'>, true>

const moveFiles = prepared((tx: Tx, lockerId: string, names: string) =>
  tx
    .updateTable('files')
    .from(jsonRows(tx, names).as('item'))
    .from('files as source')
    .set(({ ref }) =>
      Object.fromEntries(
        (Object.keys(CONTENT) as (keyof typeof CONTENT)[]).map((column) => [column, ref(`source.${column}`)]),
      ),
    )
    .where('files.locker_id', '=', lockerId)
    .whereRef('source.locker_id', '=', 'files.locker_id')
    .where('source.filename', '=', itemText(0))
    .where('files.filename', '=', itemText(1)),
)

const moveUploads = prepared((tx: Tx, lockerId: string, names: string) =>
  tx
    .updateTable('direct_uploads')
    .from(jsonRows(tx, names).as('item'))
    .set({ filename: itemText(1) })
    .where('locker_id', '=', lockerId)
    .where('filename', '=', itemText(0)),
)
