// The second thread of a large snapshot: builds it and stores its chunks. `threads.ts` starts it.

import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { createSnapshotBuilder } from './build-snapshot.ts'
import { openChunkStore } from './chunk-store.ts'
import type { BuilderWork, FromBuilder, ToBuilder } from './threads.ts'

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
