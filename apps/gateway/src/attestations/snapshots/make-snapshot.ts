// Makes a snapshot of the files that are read: leaves out what is absent, cuts chunks, and hands them to the builder.
// The gateway's own thread and the threads for large lockers both run this.

import { setImmediate } from 'node:timers/promises'
import type { ObjectKey } from '@svc/storage/provider'
import type { BuiltSnapshot, SnapshotBuilder } from './build-snapshot.ts'
import type { SnapshotFile } from './chunk-content.ts'
import { createChunkCutter } from './cut-chunks.ts'
import type { ListedFile, LockerReading } from './read-files.ts'

export interface Snapshot extends BuiltSnapshot {
  manifestVersion: number
  manifestFileCount: number
}

export interface SnapshotProgress {
  /** Called with the number of manifest entries that are done. */
  onProgress?: ((entries: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Returns the ids of those objects that are not at their provider. Calls may overlap. */
export type FindAbsent = (objects: readonly ObjectKey[]) => Promise<ReadonlySet<string>>

/** Closes the reading. Returns null if there is no file to attest. */
export async function makeSnapshot(
  reading: LockerReading,
  builder: SnapshotBuilder,
  findAbsent: FindAbsent,
  { onProgress, signal }: SnapshotProgress,
): Promise<Snapshot | null> {
  const { manifestVersion, borderKey } = reading
  const cutter = createChunkCutter(borderKey)
  let manifestFileCount = 0
  try {
    for await (const { listed, files } of presentFiles(reading.pages(), findAbsent)) {
      await builder.add(cutter.cut(files))
      manifestFileCount += listed
      onProgress?.(manifestFileCount)
      // A page takes some milliseconds. Let other work run between pages.
      await setImmediate()
      signal?.throwIfAborted()
    }
  } finally {
    await reading.close()
  }
  await builder.add(cutter.end())
  const built = await builder.end()
  return built && { ...built, manifestVersion, manifestFileCount }
}

interface PresentPage {
  /** How many entries the page has, confirmed or not. */
  listed: number
  /** The confirmed entries whose bytes are present (MERK-21, ATT-20). */
  files: SnapshotFile[]
}

/** How many pages are checked for absent objects while one is worked on. */
const PAGES_AHEAD = 3

async function* presentFiles(pages: AsyncIterable<ListedFile[]>, findAbsent: FindAbsent): AsyncGenerator<PresentPage> {
  const ahead: Promise<PresentPage>[] = []
  for await (const page of pages) {
    const present = leaveOutAbsent(page, findAbsent)
    // It is awaited later. Without this, a failure before then would be an unhandled rejection.
    present.catch(() => {})
    ahead.push(present)
    if (ahead.length > PAGES_AHEAD) yield (await ahead.shift()) as PresentPage
  }
  for (const present of ahead) yield await present
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
