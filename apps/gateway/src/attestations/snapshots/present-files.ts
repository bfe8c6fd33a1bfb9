import type { ObjectKey } from '@svc/storage/provider'
import type { SnapshotFile } from './chunk-content.ts'
import type { ListedFile } from './read-locker.ts'

/** Tells of objects those that are not at their provider, by their ids. It may be asked again before it has answered. */
export type FindAbsent = (objects: readonly ObjectKey[]) => Promise<ReadonlySet<string>>

interface PresentPage {
  /** How many entries the manifest lists, whether they have bytes or not. */
  listed: number
  /** Of these, the confirmed ones whose bytes are there (MERK-21, ATT-20). */
  files: SnapshotFile[]
}

/** So many pages are asked about while one is being worked on. */
const AHEAD = 3

export async function* presentFiles(
  pages: AsyncIterable<ListedFile[]>,
  findAbsent: FindAbsent,
): AsyncGenerator<PresentPage> {
  const asked: Promise<PresentPage>[] = []
  for await (const page of pages) {
    const answer = leaveOutAbsent(page, findAbsent)
    // Awaited in its turn; until then a failure would be noticed by the process alone, and end it.
    answer.catch(() => {})
    asked.push(answer)
    if (asked.length > AHEAD) yield (await asked.shift()) as PresentPage
  }
  for (const answer of asked) yield await answer
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
