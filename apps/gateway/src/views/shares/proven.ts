// Whether the newest statement of a locker includes a file as it is now.

import { bare } from '@svc/protocol/bytes'
import type { Context } from '../../context.ts'
import type { FileRow } from '../../db/schema.ts'
import type { AttestationRecord } from '../../evidence/record.ts'
import { proveFile } from '../../evidence/snapshots/prove-file.ts'

/** A statement about earlier bytes under the same name proves nothing about these. */
export async function isProven(
  context: Context,
  record: AttestationRecord,
  { filename, content_hash }: Pick<FileRow, 'filename' | 'content_hash'>,
): Promise<boolean> {
  if (content_hash === null) return false
  const proven = await proveFile(context, record.snapshotKey, filename)
  return proven !== null && bare(proven.file.content_hash) === bare(content_hash)
}
