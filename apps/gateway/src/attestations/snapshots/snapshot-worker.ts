// Runs in a thread of its own, which `snapshot-thread.ts` starts.

import { on } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import type { ObjectKey } from '@svc/storage/provider'
import { startBuilder } from './builder-thread.ts'
import { makeSnapshot } from './make-snapshot.ts'
import { openLockerReading } from './open-in-thread.ts'
import type { FromSnapshotThread, SnapshotWork } from './snapshot-thread.ts'

const work = workerData as SnapshotWork
const builder = startBuilder(work)
const tell = (message: FromSnapshotThread) => parentPort!.postMessage(message)
const answers = on(parentPort!, 'message')

/** Questions are answered in the order in which they are asked. */
async function findAbsent(objects: readonly ObjectKey[]): Promise<Set<string>> {
  const refs = objects.map(({ ref }) => ref)
  tell({ ids: objects.map(({ id }) => id).join(), refs: refs.every((ref) => ref === null) ? null : refs })
  return new Set((await answers.next()).value?.[0])
}

const reading = await openLockerReading(work.databaseUrl, work.lockerId)
const onProgress = work.tellsProgress ? (entries: number) => tell({ entries }) : undefined
const snapshot = await makeSnapshot(reading, builder, findAbsent, { onProgress })
await answers.return?.()
tell({ snapshot })
