// The second of two threads that share the work on a large locker: one reads and hashes files, this one hashes and
// stores what is made of them. Each has about half of it to do.

import { on } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { BuiltSnapshot, SnapshotBuilder } from './build-snapshot.ts'
import type { Chunk } from './cut-chunks.ts'

export interface BuilderWork {
  databaseUrl: string
  lockerId: string
}

/** Null ends the chunks. */
export type ToBuilder = readonly Chunk[] | null
export type FromBuilder = 'taken' | { built: BuiltSnapshot | null }

const MAX_WAITING = 32

export function startBuilder(work: BuilderWork): SnapshotBuilder {
  const worker = new Worker(new URL('./builder-worker.ts', import.meta.url), { workerData: work })
  // What it throws, `answers` throws; after the last of them, it can only fail to tidy up.
  worker.on('error', () => {})
  const answers = on(worker, 'message', { close: ['exit'] })
  let waiting = 0

  async function answer(): Promise<FromBuilder> {
    const { value, done } = await answers.next()
    if (done) throw new Error('the thread that stores a snapshot has ended')
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
