import { hash } from 'node:crypto'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../src/context.ts'
import { changeManifest } from '../../src/files/store.ts'

/** Confirmed files with given names, which have rows but no bytes. */
export async function seedNamedFiles(context: Context, lockerId: string, names: readonly string[]): Promise<void> {
  const at = isoSeconds(unixNow(context))
  const rows = names.map((filename, i) => ({
    locker_id: lockerId,
    filename,
    content_type: 'text/plain',
    expected_hash: null,
    object_id: hash('sha256', `${lockerId} ${i}`).slice(0, 32),
    provider_ref: null,
    size_bytes: i,
    content_hash: `sha256:${hash('sha256', filename)}`,
    uploaded_at: at,
    hash_recorded_at: at,
    upload_content_type: 'text/plain',
    upload_expected_hash: null,
    upload_object_id: null,
  }))
  await context.database.db.transaction().execute(async (tx) => {
    await tx.insertInto('files').values(rows).execute()
    await changeManifest(tx, lockerId, { at, files: names.length })
  })
}
