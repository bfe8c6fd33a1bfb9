// The first thread of a large snapshot: reads and hashes files. `threads.ts` starts it.

import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { makeSnapshot } from './make-snapshot.ts'
import { readLockerFilesInThread } from './read-files.ts'
import type { ObjectList } from './store.ts'
import { type FromSnapshotThread, type SnapshotWork, startBuilder } from './threads.ts'

const work = workerData as SnapshotWork
const builder = startBuilder(work)
const send = (message: FromSnapshotThread) => parentPort!.postMessage(message)
const answers = on(parentPort!, 'message')

/** Answers arrive in the order of the queries. */
async function findAbsent(objects: ObjectList): Promise<Set<string>> {
  send(objects)
  return new Set((await answers.next()).value?.[0])
}

const reading = await readLockerFilesInThread(work.databaseUrl, work.lockerId)
const onProgress = work.reportsProgress ? (entries: number) => send({ entries }) : undefined
const snapshot = await makeSnapshot(reading, builder, findAbsent, { onProgress })
await answers.return?.()
send({ snapshot })
