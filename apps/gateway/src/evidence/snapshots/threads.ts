// Two threads share the work on a large locker evenly: the first reads and hashes files, the second hashes and stores
// the chunks. This file starts both; the `*-worker.ts` files contain their code.

import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { BuiltSnapshot, SnapshotBuilder } from './build-snapshot.ts'
import type { Chunk } from './cut-chunks.ts'
import { type FindAbsent, objectsOf, type Snapshot, type SnapshotProgress } from './make-snapshot.ts'
import type { ObjectList } from './store.ts'

export interface BuilderWork {
  databaseUrl: string
  lockerId: string
}

export interface SnapshotWork extends BuilderWork {
  reportsProgress: boolean
}

/** A list of objects asks which of them are absent. */
export type FromSnapshotThread = ObjectList | { entries: number } | { snapshot: Snapshot | null }

/**
 * Megabytes of heap for each thread. Nearly all allocations become garbage immediately, and V8 collects them late if
 * the heap may grow. A thread retains about 6 bytes for each file.
 */
const HEAP = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 }

/** Takes a snapshot in threads. They end when it fails or is aborted, and otherwise soon after it is taken. */
export async function takeSnapshotInThread(
  request: BuilderWork & SnapshotProgress & { findAbsent: FindAbsent },
): Promise<Snapshot | null> {
  const { databaseUrl, lockerId, findAbsent, onProgress, signal } = request
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
    workerData: { databaseUrl, lockerId, reportsProgress: onProgress !== undefined } satisfies SnapshotWork,
    resourceLimits: HEAP,
  })
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal?.reason)
  signal?.addEventListener('abort', abort)
  try {
    const snapshot = await Promise.race([answerQueries(worker, findAbsent, onProgress), aborted.promise])
    // The thread only cleans up now. Nothing waits for it, and it may fail.
    worker.on('error', () => {}).unref()
    return snapshot
  } catch (error) {
    await worker.terminate()
    throw error
  } finally {
    signal?.removeEventListener('abort', abort)
  }
}

async function answerQueries(
  worker: Worker,
  findAbsent: FindAbsent,
  onProgress: SnapshotProgress['onProgress'],
): Promise<Snapshot | null> {
  // Rethrows errors of the thread.
  for await (const [message] of on(worker, 'message', { close: ['exit'] }) as AsyncIterable<[FromSnapshotThread]>) {
    if ('snapshot' in message) return message.snapshot
    if ('entries' in message) onProgress?.(message.entries)
    else worker.postMessage([...(await findAbsent(objectsOf(message)))])
  }
  throw new Error('the thread that takes a snapshot has exited')
}

/** Null ends the chunks. */
export type ToBuilder = readonly Chunk[] | null
export type FromBuilder = 'taken' | { built: BuiltSnapshot | null }

/** How many messages may wait for the builder. */
const MAX_WAITING = 32

/** The first thread calls this to start the second. */
export function startBuilder(work: BuilderWork): SnapshotBuilder {
  const worker = new Worker(new URL('./builder-worker.ts', import.meta.url), { workerData: work, resourceLimits: HEAP })
  // `answers` rethrows errors of the thread. After the last answer, the thread only cleans up.
  worker.on('error', () => {})
  const answers = on(worker, 'message', { close: ['exit'] })
  let waiting = 0

  async function answer(): Promise<FromBuilder> {
    const { value, done } = await answers.next()
    if (done) throw new Error('the thread that stores a snapshot has exited')
    return value[0]
  }

  function send(message: ToBuilder): void {
    worker.postMessage(message)
  }

  return {
    async add(chunks) {
      if (waiting === MAX_WAITING) await answer()
      else waiting++
      send(chunks)
    },
    async end() {
      send(null)
      for (;;) {
        const message = await answer()
        if (message !== 'taken') return message.built
      }
    },
  }
}
