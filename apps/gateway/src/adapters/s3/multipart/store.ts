import type { Db } from '../../../db/schema.ts'
import { type Grant, grantOf } from '../../../lockers/access.ts'
import type { Announced } from './checksums.ts'

export interface OpenUpload extends Announced {
  uploadId: string
  key: string
  openedAt: number
  /** The access of the key that began it. */
  grant: Grant
}

/** All unexpired uploads of a locker, in no particular order. Their number is limited per locker. */
export async function findOpenUploads(db: Db, lockerId: string, now: number): Promise<OpenUpload[]> {
  const rows = await db
    .selectFrom('upload_sessions as s')
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    .where('s.door', '=', 's3')
    .where('s.expires_at', '>', now)
    .innerJoin('upload_session_files as f', 'f.session_id', 's.session_id')
    .select(['s.session_id', 's.opened_at', 's.minted_by', 's.minted_epoch'])
    .select(['f.filename', 'f.checksum_algorithm', 'f.checksum_type'])
    .execute()
  return rows.map((row) => ({
    uploadId: row.session_id,
    key: row.filename,
    openedAt: row.opened_at ?? 0,
    checksum_algorithm: row.checksum_algorithm,
    checksum_type: row.checksum_type,
    grant: grantOf(row),
  }))
}
