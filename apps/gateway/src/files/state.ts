import { type AcquirePlaces, places } from '@svc/concurrency/locks'
import type { Context } from '../context.ts'
import { type AddFile, createFileAdder } from './add-files.ts'
import { createObjectHasher, createObjectReader, type HashObject } from './confirm/hash-object.ts'
import { type HashThread, plainHashThread } from './confirm/hash-thread.ts'
import { createKeyMarks, type MarkKey } from './key-marks.ts'
import { insertObject, type ObjectRow } from './object-store.ts'
import { createSessionFinalizer, type FinalizeSession } from './parts/finalize-session.ts'
import { olderReplicas } from './parts/older-replicas.ts'
import { createPartsOpener, type OpenParts } from './parts/open-parts.ts'
import { createPartHashes, type PartHashes } from './parts/part-hashes.ts'
import { createViewIds, type ViewId } from './parts/view.ts'

interface FilesState {
  addFile: AddFile
  /** Writes the row of a new object. Durable when it resolves. */
  announceObject: (object: ObjectRow) => Promise<void>
  hashObject: HashObject
  /** Hashes bytes while they are stored and when they are confirmed. */
  hashThread: HashThread<null>
  markKey: MarkKey
  /** Limits concurrent fetches. */
  acquireFetchSlots: AcquirePlaces
  partHashes: PartHashes
  /** Whether a replica may read a part that belongs to a release which treats parts without a SHA-256 as lost. */
  mayBeReadByOlderRelease: () => Promise<boolean>
  openParts: OpenParts
  finalizeSession: FinalizeSession
  viewId: ViewId
}

declare module '../context.ts' {
  interface Context extends FilesState {}
}

export function openFiles(context: Context): FilesState {
  const hashThread = plainHashThread()
  return {
    addFile: createFileAdder(context),
    announceObject: (object) => context.database.commit((tx) => insertObject(tx, object), { isOneStatement: true }),
    acquireFetchSlots: places(),
    hashObject: createObjectHasher(createObjectReader(context.providers, hashThread)),
    hashThread,
    markKey: createKeyMarks(context.signers.shortUrl),
    partHashes: createPartHashes(hashThread),
    mayBeReadByOlderRelease: olderReplicas(context),
    openParts: createPartsOpener(context),
    finalizeSession: createSessionFinalizer(context),
    viewId: createViewIds(context.signers.shortUrl),
  }
}
