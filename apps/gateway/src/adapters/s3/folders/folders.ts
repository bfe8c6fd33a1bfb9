// Keys that end with a slash and have no bytes. Programs that show a bucket as a disk store one for each folder, with
// the folder's permissions and times in its metadata. Folders are not files: they do not appear in the manifest or in
// statements.

import { hash } from 'node:crypto'
import { withPrefix } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { filenameProblem } from '@svc/protocol/filename'
import { s3Error } from '@svc/s3/errors'
import { type Context, unixNow } from '../../../context.ts'
import type { FileRow, S3FolderTable, Tx } from '../../../db/schema.ts'
import { countUnconfirmed } from '../../../files/store.ts'
import { requireGranted } from '../../../lockers/access.ts'
import { reserve } from '../../../lockers/quota.ts'
import type { S3Caller } from '../caller.ts'
import type { ObjectHeaders } from '../objects/object-headers.ts'
import type { WriteCondition } from '../objects/write-condition.ts'
import { countFolders, deleteFolderRow, findFolder, upsertFolder } from './store.ts'

/** Folders do not count towards the quota, but each one is a row. */
export const MAX_FOLDERS = 100_000

export function isFolderKey(key: string): boolean {
  return key.endsWith('/')
}

/** The name of a folder must allow files in it. */
export function requireFolderKey({ config }: Context, key: string): void {
  const problem = filenameProblem(`${key}-`, config.storage.systemPrefix)
  if (problem !== null) {
    throw s3Error('InvalidArgument', `the key ${problem}`, 'choose another key that follows the naming rules')
  }
}

/** The file-like properties of a folder: no bytes, and the time when it was stored. */
type FolderFile = Pick<FileRow, keyof ReturnType<typeof asFile>>

const NO_BYTES_HASH = withPrefix(hash('sha256', ''))

export function asFile({ folder, content_type, metadata, created_at }: S3FolderTable) {
  return {
    filename: folder,
    content_type,
    metadata,
    size_bytes: 0,
    object_bytes: 0,
    content_hash: NO_BYTES_HASH,
    object_id: '',
    uploaded_at: isoSeconds(created_at),
  }
}

interface FolderPut extends ObjectHeaders {
  folder: string
  check: WriteCondition
}

export async function saveFolder(
  context: Context,
  caller: S3Caller,
  { folder, contentType: content_type, metadata, check }: FolderPut,
): Promise<FolderFile> {
  const { locker_id } = caller.locker
  const row = { locker_id, folder, content_type, metadata, created_at: unixNow(context) }
  return context.database.commit(async (tx) => {
    await reserve(context, tx, await lockLocker(tx, caller), {})
    const before = await findFolder(tx, locker_id, folder)
    check(before && asFile(before))
    if (!before && (await countFolders(tx, locker_id)) >= MAX_FOLDERS) throw tooManyFolders()
    await upsertFolder(tx, row)
    return asFile(row)
  })
}

/** Succeeds for a missing folder. */
export async function removeFolder(
  context: Context,
  caller: S3Caller,
  folder: string,
  check: WriteCondition,
): Promise<void> {
  const { locker_id } = caller.locker
  await context.database.commit(async (tx) => {
    await lockLocker(tx, caller)
    const before = await findFolder(tx, locker_id, folder)
    check(before && asFile(before))
    if (before) await deleteFolderRow(tx, locker_id, folder)
  })
}

/** Serializes changes to the folders of a locker, and requires that the caller has access. */
async function lockLocker(tx: Tx, { locker, credential }: S3Caller) {
  const access = await countUnconfirmed(tx, locker.locker_id, 0)
  await requireGranted(tx, access, credential.grant)
  return access
}

function tooManyFolders() {
  return s3Error(
    'QuotaExceeded',
    `a locker has at most ${MAX_FOLDERS} keys that end with /`,
    'delete some of them; a file in a folder does not need one',
  )
}
