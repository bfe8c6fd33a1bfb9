import { groupWrites } from '@svc/database/commit'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Tx } from '../db/schema.ts'
import { reserve } from '../lockers/quota.ts'
import { changeManifest, upsertFiles } from './store.ts'

export type AddFile = (file: FileRow) => Promise<void>

/** Durable when it resolves. */
export function createFileAdder(context: Context): AddFile {
  return groupWrites(context.database.commit, async (tx, files: readonly FileRow[]) => {
    await addFiles(
      tx,
      context,
      files.map((file) => [file]),
    )
    return files.map(() => undefined)
  })
}

/**
 * Adds the files of each request, in the order of the requests. All new names of one request form one change of the
 * manifest.
 */
export async function addFiles(tx: Tx, context: Context, requests: readonly (readonly FileRow[])[]): Promise<void> {
  const added = await upsertFiles(tx, requests.flat())
  const at = isoSeconds(unixNow(context))
  for (const [lockerId, { files, changes }] of changesOf(requests, added)) {
    await reserve(context, tx, await changeManifest(tx, lockerId, { at, files, changes }), { files })
  }
}

/** Grouped by locker, in the order in which all processes lock lockers. */
function changesOf(
  requests: readonly (readonly FileRow[])[],
  added: ReadonlySet<FileRow>,
): [lockerId: string, { files: number; changes: number }][] {
  const changes = new Map<string, { files: number; changes: number }>()
  for (const request of requests) {
    const files = request.filter((file) => added.has(file))
    if (!files[0]) continue
    const before = changes.get(files[0].locker_id) ?? { files: 0, changes: 0 }
    changes.set(files[0].locker_id, { files: before.files + files.length, changes: before.changes + 1 })
  }
  return [...changes].sort(([a], [b]) => (a < b ? -1 : 1))
}
