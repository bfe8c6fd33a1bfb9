import { setImmediate } from 'node:timers/promises'
import type { BuiltSnapshot, SnapshotBuilder } from './build-snapshot.ts'
import { createChunkCutter } from './cut-chunks.ts'
import { type FindAbsent, presentFiles } from './present-files.ts'
import type { LockerReading } from './read-locker.ts'

export interface Snapshot extends BuiltSnapshot {
  manifestVersion: number
  manifestFileCount: number
}

export interface SnapshotProgress {
  /** Hears how many entries of the manifest are done. */
  onProgress?: ((entries: number) => void) | undefined
  signal?: AbortSignal | undefined
}

/** The same in the gateway's thread and in one of its own. Null when there is no file to attest; closes the reading. */
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
      // A page is some milliseconds of work; others have their turn then.
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
