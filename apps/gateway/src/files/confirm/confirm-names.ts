// Has the bytes that files point at read, and records what they are. Meanwhile a file may be put anew or deleted: what
// was read counts for a file that still points at it, and for no other (state machine 3.3, T-17).

import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { limit } from '@svc/concurrency/locks'
import { ServiceError } from '@svc/http-service/service-error'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Transaction } from 'kysely'
import { unixNow } from '../../context.ts'
import type { FileRow, Locker, Schema } from '../../db/schema.ts'
import { fileNotFound, keepsChanging } from '../errors.ts'
import type { FilesContext } from '../room.ts'
import { type ConfirmedObject, settleLater } from '../settling/settle-later.ts'
import { changeManifest, type FileReading, findFiles, recordHashes } from '../store.ts'
import { isConfirmed, lookAtFile, type Outcome, type Sight } from './look-at-file.ts'

interface Confirmation {
  /** Of every name that was asked for. */
  outcomes: ReadonlyMap<string, Outcome>
  reattest: ConfirmedFiles['reattest']
}

/** Within the transaction that records hashes. */
type TellOfChange = (tx: Transaction<Schema>) => Promise<void>

const MAX_LOOKS = 3
/** Fewer than are read at once for all, so that one long request leaves room for others. */
const READ_AT_ONCE = 4

/** What one look can record is recorded in one transaction, as one change of the manifest. */
export async function confirmNames(
  context: FilesContext,
  locker: Locker,
  filenames: readonly string[],
): Promise<Confirmation> {
  const outcomes = new Map<string, Outcome>()
  const open = new Set(filenames)
  let reattest: Confirmation['reattest'] = context.config.attestations.isAutomatic ? 'skipped' : 'off'
  const tellOfChange = async (tx: Transaction<Schema>) => {
    reattest = await context.manifestChanged(tx, locker)
  }
  for (let look = 1; look <= MAX_LOOKS && open.size > 0; look++) {
    for (const [filename, outcome] of await lookOnce(context, locker, [...open], tellOfChange)) {
      outcomes.set(filename, outcome)
      open.delete(filename)
    }
  }
  for (const filename of open) outcomes.set(filename, keepsChanging(filename))
  return { outcomes, reattest }
}

/** Leaves out the files that changed meanwhile. */
async function lookOnce(
  context: FilesContext,
  locker: Locker,
  filenames: string[],
  tellOfChange: TellOfChange,
): Promise<Map<string, Outcome>> {
  const files = await findFiles(context.database.db, locker.locker_id, filenames)
  const known = new Set(files.map(({ filename }) => filename))
  const missing = filenames.filter((filename) => !known.has(filename))
  const outcomes = new Map<string, Outcome>(missing.map((filename) => [filename, fileNotFound(filename)]))
  const sights: Sight[] = []
  const inTurn = limit(READ_AT_ONCE)
  await Promise.all(
    files.map((file) =>
      inTurn(async () => {
        const found = await lookAtFile(context, locker, file)
        if ('verdict' in found) sights.push(found)
        else outcomes.set(file.filename, found)
      }),
    ),
  )
  for (const [filename, outcome] of await settle(context, locker, sights, tellOfChange)) outcomes.set(filename, outcome)
  return outcomes
}

async function settle(
  context: FilesContext,
  locker: Locker,
  sights: Sight[],
  tellOfChange: TellOfChange,
): Promise<[string, Outcome][]> {
  if (sights.length === 0) return []
  const { locker_id } = locker
  const at = isoSeconds(unixNow(context))
  const readings = sights.flatMap(({ verdict, ...seen }) =>
    verdict instanceof ServiceError ? [] : [{ ...seen, ...verdict }],
  )
  const filenames = sights.map(({ filename }) => filename)
  const files = await context.database.db.transaction().execute(async (tx) => {
    const recorded = await recordHashes(tx, locker_id, readings, at)
    const files = new Map((await findFiles(tx, locker_id, filenames)).map((file) => [file.filename, file]))
    const bytes = recorded.reduce((sum, { size }) => sum + size, 0)
    if (recorded.length > 0) {
      await settleLater(tx, context, locker, recorded.map(confirmedObject(files)))
      await changeManifest(tx, locker_id, { at, bytes })
      await tellOfChange(tx)
    }
    return files
  })
  return sights.flatMap(({ filename, objectId, verdict }): [string, Outcome][] => {
    const file = files.get(filename)
    if (file?.object_id !== objectId) return []
    // Recorded just now, or by somebody else who read the same.
    if (isConfirmed(file)) return [[filename, file]]
    return verdict instanceof ServiceError ? [[filename, verdict]] : []
  })
}

/** Of a file that was just recorded, and is locked since. */
function confirmedObject(files: ReadonlyMap<string, FileRow>): (reading: FileReading) => ConfirmedObject {
  return ({ filename, objectId, size, contentHash }) => {
    const { content_type } = files.get(filename) as FileRow
    return { id: objectId, size, contentHash, contentType: content_type }
  }
}
