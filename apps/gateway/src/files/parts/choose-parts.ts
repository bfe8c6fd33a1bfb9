import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { releaseObjects } from '../object-store.ts'
import { deletePartsOf, findParts, type Part } from './part-store.ts'
import { type SessionFile, updateSessionFile } from './store.ts'

interface Choice {
  /** Some of the file's parts, in order of index. */
  parts: readonly Part[]
  /** Identifies the choice. */
  digest: string
  checksum: string | null
  /** The value of `upload_session_files.replaces`. */
  replaces: string | null
}

/**
 * Fixes the file to these parts, whatever their indexes, and drops the others. A part that arrives later voids the
 * choice. The caller holds the lock of the session.
 */
export async function chooseParts(
  tx: Tx,
  context: Context,
  file: SessionFile,
  { parts, digest, checksum, replaces }: Choice,
): Promise<void> {
  const { session_id, file_id } = file
  const chosen = new Set(parts.map(({ part_index }) => part_index))
  const dropped = (await findParts(tx, session_id, file_id)).filter(({ part_index }) => !chosen.has(part_index))
  await deletePartsOf(tx, file, dropped)
  const separate = dropped.map(({ object_id }) => object_id).filter((id) => id !== file.object_id)
  await releaseObjects(tx, separate, unixNow(context))
  const revision = dropped.length === 0 ? file.revision : file.revision + 1
  await updateSessionFile(tx, file, {
    received_bytes: parts.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
    part_count: parts.length,
    top_index: parts.at(-1)?.part_index ?? -1,
    revision,
    chosen_revision: revision,
    chosen_parts: digest,
    checksum,
    replaces,
  })
}

export function isChosen({ revision, chosen_revision }: SessionFile): boolean {
  return chosen_revision === revision
}
