// Renames files. An entry points at an immutable object, so no bytes move: size, hash, times and the provider's id
// stay. Short URLs contain the file name, so those of the old name end (ADD-22). A pending direct upload belongs to the
// file and moves with it (T-50).

import type { Body } from '@svc/api/endpoint'
import type * as files from '@svc/api/files'
import { isoSeconds } from '@svc/protocol/evidence'
import { filenameProblem } from '@svc/protocol/filename'
import { type InvalidInput, ServiceError, ValidationError } from '@svc/service/service-error'
import type { LockerCaller } from '../auth/callers.ts'
import { limitSigner } from '../auth/limits.ts'
import { type Context, unixNow } from '../context.ts'
import type { FileRow, Locker, Tx } from '../db/schema.ts'
import { AccessEnded, type Grant, grantTo, isGranted } from '../lockers/access.ts'
import { fileNotFound, keyRemoved } from './errors.ts'
import { manifestChanged } from './manifest-changed.ts'
import { HASH_PROBLEM, newFile, readExpectedHash } from './name-files.ts'
import { releaseObjects } from './object-store.ts'
import { moveNames } from './rename-store.ts'
import { changeManifest, insertMissingFiles, lockFiles, unconfirmedBytes } from './store.ts'

interface Rename {
  filename: string
  newFilename: string
  expectedHash: string | null
}

interface RenameOrder {
  renames: readonly Rename[]
  mayReplace: boolean
  grant: Grant
}

/** A file under its old name, and the file that had the new name. */
interface Renamed {
  file: FileRow
  newFilename: string
  replaced: FileRow | null
}

interface RenameResult {
  renamed: Renamed[]
  reattest: files.FilesRenamed['reattest']
}

/** Renames all of the files or none. */
export async function renameFiles(
  context: Context,
  { locker, signer }: LockerCaller,
  body: Body<typeof files.renameFiles>,
): Promise<files.FilesRenamed> {
  const { locker_id } = locker
  const order = {
    renames: readRenames(context, body.files),
    mayReplace: body.overwrite ?? false,
    grant: grantTo(signer.identity, locker),
  }
  await limitSigner(context, signer)
  const { renamed, reattest } = await rename(context, locker, order)
  return {
    ok: true,
    locker_id,
    files: renamed.map(({ file: { filename, size_bytes, content_hash }, newFilename, replaced }) => ({
      filename,
      new_filename: newFilename,
      size_bytes,
      content_hash,
      replaced: replaced !== null,
    })),
    count: renamed.length,
    reattest,
  }
}

/** Each name may occur once, as old or new, so that the order of the renames does not matter. */
function readRenames({ config }: Context, requested: Body<typeof files.renameFiles>['files']): Rename[] {
  const names = new Set<string>()
  const isRepeated = (name: string) => names.size === names.add(name).size
  const problems: InvalidInput[] = requested.flatMap(({ filename, new_filename, expected_hash }, i) => {
    const problem = filenameProblem(new_filename, config.storage.systemPrefix)
    const repeated = [
      ...(isRepeated(filename) ? ['filename'] : []),
      ...(isRepeated(new_filename) ? ['new_filename'] : []),
    ]
    const isHashBad = expected_hash !== undefined && readExpectedHash(expected_hash) === null
    return [
      ...(problem === null ? [] : [{ loc: ['body', 'files', i, 'new_filename'], msg: problem }]),
      ...repeated.map((field) => ({ loc: ['body', 'files', i, field], msg: 'occurs more than once in the request' })),
      ...(isHashBad ? [{ loc: ['body', 'files', i, 'expected_hash'], msg: HASH_PROBLEM }] : []),
    ]
  })
  const [first, ...rest] = problems
  if (first) throw new ValidationError(first, ...rest)
  return requested.map(({ filename, new_filename, expected_hash }) => ({
    filename,
    newFilename: new_filename,
    expectedHash: expected_hash === undefined ? null : readExpectedHash(expected_hash),
  }))
}

const MAX_ATTEMPTS = 5

async function rename(context: Context, locker: Locker, order: RenameOrder): Promise<RenameResult> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await context.database.commit((tx) => renameIn(tx, context, locker, order))
    } catch (error) {
      if (error instanceof AccessEnded) throw keyRemoved()
      if (!(error instanceof NameFreed)) throw error
      if (attempt === MAX_ATTEMPTS) throw keepsMoving(error.filename)
    }
  }
}

/**
 * A file was deleted while its name was being taken. The transaction is restarted, because it must lock names in one
 * order.
 */
class NameFreed extends Error {
  readonly filename: string

  constructor(filename: string) {
    super(filename)
    this.filename = filename
  }
}

async function renameIn(
  tx: Tx,
  context: Context,
  locker: Locker,
  { renames, mayReplace, grant }: RenameOrder,
): Promise<RenameResult> {
  const { locker_id } = locker
  const now = unixNow(context)
  const newEntries = renames.map(({ newFilename }) => newFile(locker, { filename: newFilename, ...NO_BYTES }))
  const names = renames.flatMap(({ filename, newFilename }) => [filename, newFilename])
  // New names first, then existing ones, each in one order, as everywhere; otherwise transactions would deadlock.
  const reserved = new Set(await insertMissingFiles(tx, newEntries))
  const known = new Map((await lockFiles(tx, locker_id, names)).map((file) => [file.filename, file]))
  const freed = renames.find(({ newFilename }) => !known.has(newFilename))
  if (freed) throw new NameFreed(freed.newFilename)
  const renamed = renames.map((rename) => ({
    file: requireFile(known.get(rename.filename), rename),
    newFilename: rename.newFilename,
    replaced: reserved.has(rename.newFilename) ? null : requireReplaceable(known.get(rename.newFilename), mayReplace),
  }))
  const replaced = renamed.flatMap((one) => one.replaced ?? [])
  await moveNames(tx, locker_id, renames)
  const objects = replaced.flatMap(({ object_id }) => object_id ?? [])
  await releaseObjects(tx, objects, now)
  const bytes = -replaced.reduce((sum, { size_bytes }) => sum + (size_bytes ?? 0), 0)
  const unconfirmed = -replaced.reduce((sum, file) => sum + unconfirmedBytes(file), 0)
  const change = { at: isoSeconds(now), files: -replaced.length, bytes, unconfirmed }
  const access = await changeManifest(tx, locker_id, change)
  if (!isGranted(access, grant)) throw new AccessEnded()
  const isConfirmed = renamed.some(({ file }) => file.content_hash !== null)
  return { renamed, reattest: isConfirmed ? await manifestChanged(context, tx, locker) : 'skipped' }
}

const NO_BYTES = { contentType: 'application/octet-stream', expectedHash: null }

function requireFile(file: FileRow | undefined, { filename, expectedHash }: Rename): FileRow {
  if (!file) throw fileNotFound(filename)
  if (expectedHash === null || file.content_hash === expectedHash) return file
  throw new ServiceError('PRECONDITION_FAILED', `${JSON.stringify(filename)} does not have the expected hash`, {
    hint: 'nothing was renamed; read the list of files before you retry',
    details: { filename, expected: expectedHash, actual: file.content_hash },
  })
}

function requireReplaceable(file: FileRow | undefined, mayReplace: boolean): FileRow | null {
  if (!file || mayReplace) return file ?? null
  const { filename, size_bytes, content_hash } = file
  throw new ServiceError('PRECONDITION_FAILED', `a file ${JSON.stringify(filename)} already exists`, {
    hint: 'nothing was renamed; use another name, or send "overwrite": true to replace the file',
    details: { filename, size_bytes, content_hash },
  })
}

function keepsMoving(filename: string): ServiceError {
  return new ServiceError(
    'CONTENT_HASH_CHANGED',
    `${JSON.stringify(filename)} was created and deleted repeatedly during the rename`,
    {
      hint: 'nothing was renamed; send the request again',
      details: { filename },
    },
  )
}
