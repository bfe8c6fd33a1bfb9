// Runs in a thread of its own, which `builder-thread.ts` starts.

import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { createSnapshotBuilder } from './build-snapshot.ts'
import type { BuilderWork, FromBuilder, ToBuilder } from './builder-thread.ts'
import { openChunkStore } from './open-in-thread.ts'

const { databaseUrl, lockerId } = workerData as BuilderWork
const answer = (message: FromBuilder) => parentPort!.postMessage(message)
const { store, flush, close } = await openChunkStore(databaseUrl)
const builder = createSnapshotBuilder(lockerId, store)

for await (const [chunks] of on(parentPort!, 'message') as AsyncIterable<[ToBuilder]>) {
  if (chunks === null) break
  await builder.add(chunks)
  answer('taken')
}
const built = await builder.end()
await flush()
answer({ built })
await close()
