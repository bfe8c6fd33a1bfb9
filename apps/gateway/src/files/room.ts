import { places, type TakePlaces } from '@svc/concurrency/locks'
import type { Context } from '../context.ts'
import type { Locker, Tx } from '../db/schema.ts'
import { type AddFile, createFileAdder } from './add-files.ts'
import { createObjectHasher, createObjectReader, type HashObject } from './confirm/hash-object.ts'
import { type HashThread, plainHashThread } from './confirm/hash-thread.ts'
import { createKeyMarks, type MarkKey } from './mark-keys.ts'
import { insertObject, type ObjectRow } from './object-store.ts'

interface Needs {
  /** Called in the transaction that changes a locker's manifest. */
  manifestChanged: (tx: Tx, locker: Pick<Locker, 'receipt_id'>) => Promise<'queued' | 'off'>
}

export interface FilesContext extends Context, Needs {
  addFile: AddFile
  /** Writes the row of a new object. Durable when it resolves. */
  announceObject: (object: ObjectRow) => Promise<void>
  hashObject: HashObject
  /** Hashes bytes while they are stored, and when they are confirmed. */
  hashThread: HashThread<null>
  markKey: MarkKey
  /** Counts the fetches that are under way. */
  takeFetchPlaces: TakePlaces
}

export function createFiles(context: Context, { manifestChanged }: Needs): FilesContext {
  const hashThread = plainHashThread()
  return {
    ...context,
    manifestChanged,
    addFile: createFileAdder(context),
    announceObject: (object) => context.database.commit((tx) => insertObject(tx, object), { isOneStatement: true }),
    takeFetchPlaces: places(),
    hashObject: createObjectHasher(createObjectReader(context.providers, hashThread)),
    hashThread,
    markKey: createKeyMarks(context.signers.shortUrl),
  }
}
