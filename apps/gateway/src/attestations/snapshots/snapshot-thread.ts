import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ObjectKey } from '@svc/storage/provider'
import type { BuilderWork } from './builder-thread.ts'
import type { Snapshot, SnapshotProgress } from './make-snapshot.ts'
import type { FindAbsent } from './present-files.ts'

export interface SnapshotWork extends BuilderWork {
  tellsProgress: boolean
}

export type FromSnapshotThread = ObjectQuestion | { entries: number } | { snapshot: Snapshot | null }

/** Which of these objects are absent? Text crosses over faster than a thousand pairs. */
interface ObjectQuestion {
  /** With commas between: ids are hex. */
  ids: string
  /** Null when all of them are. */
  refs: (string | null)[] | null
}

/** Takes a snapshot in threads of its own. They end when it fails or is given up, and else soon after it is taken. */
export async function takeSnapshotInThread(
  request: BuilderWork & SnapshotProgress & { findAbsent: FindAbsent },
): Promise<Snapshot | null> {
  const { databaseUrl, lockerId, findAbsent, onProgress, signal } = request
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
    workerData: { databaseUrl, lockerId, tellsProgress: onProgress !== undefined } satisfies SnapshotWork,
  })
  const givenUp = Promise.withResolvers<never>()
  const giveUp = () => givenUp.reject(signal?.reason)
  signal?.addEventListener('abort', giveUp)
  try {
    const snapshot = await Promise.race([converse(worker, findAbsent, onProgress), givenUp.promise])
    // What it does now is tidying up, with which nobody need wait and which may fail.
    worker.on('error', () => {}).unref()
    return snapshot
  } catch (error) {
    await worker.terminate()
    throw error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

async function converse(
  worker: Worker,
  findAbsent: FindAbsent,
  onProgress: SnapshotProgress['onProgress'],
): Promise<Snapshot | null> {
  // Throws what the thread throws.
  for await (const [message] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[FromSnapshotThread]>) {
    if ('snapshot' in message) return message.snapshot
    if ('entries' in message) onProgress?.(message.entries)
    else worker.postMessage([...(await findAbsent(objectsOf(message)))])
  }
  throw new Error('the thread that takes a snapshot has ended')
}

function objectsOf({ ids, refs }: ObjectQuestion): ObjectKey[] {
  return ids.split(',').map((id, i) => ({ id, ref: refs?.[i] ?? null }))
}
