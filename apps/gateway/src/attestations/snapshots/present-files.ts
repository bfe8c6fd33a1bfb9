import type { ObjectKey } from '../../providers/provider.ts'
import type { SnapshotFile } from './chunk-content.ts'
import type { ListedFile } from './read-locker.ts'

/** Tells of objects those that are not at their provider, by their ids. */
export type FindAbsent = (objects: readonly ObjectKey[]) => Promise<ReadonlySet<string>>

interface PresentPage {
  /** How many entries the manifest lists, whether they have bytes or not. */
  listed: number
  /** Of these, the confirmed ones whose bytes are there (MERK-21, ATT-20). */
  files: SnapshotFile[]
}

/** Asks about a page while the one before is being worked on, and about one at a time. */
export async function* presentFiles(
  pages: AsyncIterable<ListedFile[]>,
  findAbsent: FindAbsent,
): AsyncGenerator<PresentPage> {
  let asked: Promise<PresentPage> | null = null
  for await (const page of pages) {
    const ready: PresentPage | null = await asked
    asked = leaveOutAbsent(page, findAbsent)
    // Awaited in the next turn; until then a failure would be noticed by the process alone, and end it.
    asked.catch(() => {})
    if (ready) yield ready
  }
  if (asked !== null) yield await asked
}

async function leaveOutAbsent(page: readonly ListedFile[], findAbsent: FindAbsent): Promise<PresentPage> {
  const files: SnapshotFile[] = []
  const objects: ObjectKey[] = []
  for (const [filename, size_bytes, content_hash, content_type, id, ref] of page) {
    if (content_hash === null || size_bytes === null || id === null) continue
    files.push({ filename, size_bytes, content_hash, content_type })
    objects.push({ id, ref })
  }
  const absent = objects.length === 0 ? new Set() : await findAbsent(objects)
  const isPresent = (_: SnapshotFile, i: number) => !absent.has((objects[i] as ObjectKey).id)
  return { listed: page.length, files: absent.size === 0 ? files : files.filter(isPresent) }
}
