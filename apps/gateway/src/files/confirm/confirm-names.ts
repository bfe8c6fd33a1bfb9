// Hashes the objects that files point at, and records size and hash. A file may be replaced or deleted meanwhile, so a
// hash is recorded only if the file still points at the object that was read (state machine 3.3, T-17).

import type { ConfirmedFiles } from '@svc/api/confirm-files'
import { limit } from '@svc/concurrency/locks'
import { isoSeconds } from '@svc/protocol/evidence'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { FileRow, Locker } from '../../db/schema.ts'
import { deliverLater } from '../delivery/schedule.ts'
import { adoptUploads, bytesOf } from '../direct-uploads.ts'
import {
  contentNotFound,
  fileNotFound,
  hashMismatch,
  keepsChanging,
  nothingToConfirm,
  storageError,
} from '../errors.ts'
import { manifestChanged } from '../manifest-changed.ts'
import { changeManifest, findFiles, recordHashes } from '../store.ts'
import type { LockerToConfirm } from './confirm-request.ts'
import type { Reading } from './hash-object.ts'

type ConfirmedRow = FileRow & { size_bytes: number; content_hash: string; hash_recorded_at: string }

/** The confirmed file, or the reason why it was not confirmed. */
export type Outcome = ConfirmedRow | ServiceError

/** Valid while the file points at this object. */
interface Inspection {
  filename: string
  objectId: string
  /** The reading to record, or the fault of the bytes. */
  verdict: Reading | ServiceError
}

interface Confirmation {
  /** One for each requested name. */
  outcomes: ReadonlyMap<string, Outcome>
  reattest: ConfirmedFiles['reattest']
}

const MAX_ATTEMPTS = 3
/** Less than the limit of a provider, so that one long request does not block others. */
const READ_AT_ONCE = 4

/** Inspects and records the files; files that changed meanwhile are inspected again. */
export async function confirmNames(
  context: Context,
  access: LockerToConfirm,
  filenames: readonly string[],
): Promise<Confirmation> {
  const { locker } = access
  const outcomes = new Map<string, Outcome>()
  const open = new Set(filenames)
  let reattest: Confirmation['reattest'] = context.config.attestations.isAutomatic ? 'skipped' : 'off'
  for (let attempt = 1; attempt <= MAX_ATTEMPTS && open.size > 0; attempt++) {
    const { inspections, decided } = await inspectFiles(context, access, [...open])
    const recorded = await recordInspections(context, locker, inspections)
    reattest = recorded.reattest ?? reattest
    for (const [filename, outcome] of [...decided, ...recorded.outcomes]) {
      outcomes.set(filename, outcome)
      open.delete(filename)
    }
  }
  for (const filename of open) outcomes.set(filename, keepsChanging(filename))
  return { outcomes, reattest }
}

async function inspectFiles(context: Context, { locker, mayReadRecorded }: LockerToConfirm, filenames: string[]) {
  const files = await findFiles(context.database.db, locker.locker_id, filenames)
  const known = new Set(files.map(({ filename }) => filename))
  const missing = filenames.filter((filename) => !known.has(filename))
  const notFound = mayReadRecorded ? fileNotFound : nothingToConfirm
  const decided = new Map<string, Outcome>(missing.map((filename) => [filename, notFound(filename)]))
  const inspections: Inspection[] = []
  const limited = limit(READ_AT_ONCE)
  await Promise.all(
    files.map((file) =>
      limited(async () => {
        const found = await inspectFile(context, locker, file)
        if ('verdict' in found) inspections.push(found)
        else
          decided.set(file.filename, found instanceof ServiceError || mayReadRecorded ? found : notFound(file.filename))
      }),
    ),
  )
  return { inspections, decided }
}

async function inspectFile(context: Context, locker: Locker, file: FileRow): Promise<Outcome | Inspection> {
  // A redirected client may have uploaded newer bytes.
  if (isConfirmed(file) && file.upload_object_id === null) return file
  try {
    const { file: newest, refusal } = await adoptUploads(context, locker, file)
    if (refusal) return refusal
    const current = bytesOf(newest)
    if (!current) return contentNotFound(locker.locker_id, file.filename)
    if (isConfirmed(current.file)) return current.file
    const reading = await context.hashObject(locker.provider, current.key)
    return { filename: file.filename, objectId: current.key.id, verdict: judge(current.file, reading) }
  } catch (error) {
    const refusal = storageError(error)
    if (refusal instanceof ServiceError) return refusal
    throw error
  }
}

function judge({ locker_id, filename, expected_hash }: FileRow, reading: Reading | null): Reading | ServiceError {
  if (!reading) return contentNotFound(locker_id, filename)
  if (expected_hash === null || expected_hash === reading.contentHash) return reading
  return hashMismatch(filename, expected_hash, reading.contentHash)
}

/**
 * Records all hashes in one transaction, as one change of the manifest. Files that changed since their inspection get
 * no outcome.
 */
async function recordInspections(context: Context, locker: Locker, inspections: readonly Inspection[]) {
  if (inspections.length === 0) return { outcomes: [], reattest: null }
  const { locker_id } = locker
  const at = isoSeconds(unixNow(context))
  const readings = inspections.flatMap(({ verdict, ...inspected }) =>
    verdict instanceof ServiceError ? [] : [{ ...inspected, ...verdict }],
  )
  const filenames = inspections.map(({ filename }) => filename)
  const { files, reattest } = await context.database.commit(async (tx) => {
    const recorded = await recordHashes(tx, locker_id, readings, at)
    const files = new Map((await findFiles(tx, locker_id, filenames)).map((file) => [file.filename, file]))
    if (recorded.length === 0) return { files, reattest: null }
    const objects = recorded.map(({ filename, objectId, size, contentHash }) => {
      const { content_type } = files.get(filename) as FileRow // recordHashes locked its row
      return { id: objectId, size, contentHash, contentType: content_type }
    })
    await deliverLater(tx, context, locker, objects)
    const bytes = recorded.reduce((sum, { size }) => sum + size, 0)
    const unconfirmed = recorded.reduce((sum, { unconfirmed }) => sum - unconfirmed, 0)
    await changeManifest(tx, locker_id, { at, bytes, unconfirmed })
    return { files, reattest: await manifestChanged(context, tx, locker) }
  })
  const outcomes = inspections.flatMap(({ filename, objectId, verdict }): [string, Outcome][] => {
    const file = files.get(filename)
    if (file?.object_id !== objectId) return []
    // Recorded just now, or by another request that read the same object.
    if (isConfirmed(file)) return [[filename, file]]
    return verdict instanceof ServiceError ? [[filename, verdict]] : []
  })
  return { outcomes, reattest }
}

/** Size, hash and time are recorded together. */
function isConfirmed(file: FileRow): file is ConfirmedRow {
  return file.content_hash !== null
}
