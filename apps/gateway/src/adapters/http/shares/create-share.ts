import type { Body } from '@svc/api/endpoint'
import { DEFAULT_SHARE_HOURS, type createShare as endpoint, MAX_SHARES, type Share } from '@svc/api/shares'
import { filenameProblem } from '@svc/protocol/filename'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { LockerCaller } from '../../../auth/callers.ts'
import { limitSigner } from '../../../auth/limits.ts'
import { requireWritable } from '../../../auth/restrictions.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { Locker, ShareTable, Tx } from '../../../db/schema.ts'
import { findCurrent } from '../../../files/direct-uploads.ts'
import { contentNotFound, keyRemoved } from '../../../files/errors.ts'
import { filesIn } from '../../../files/lists/store.ts'
import { topOf } from '../../../files/lists/walk-names.ts'
import { folderProblem } from '../../../files/name-files.ts'
import { grantTo, isGranted } from '../../../lockers/access.ts'
import { lockLocker } from '../../../lockers/store.ts'
import { isFolder, isLive, namesLocker } from './find-share.ts'
import { shownShare } from './list-shares.ts'
import { deleteShares, insertShare, sharesOfLocker } from './store.ts'

const HOUR_SECONDS = 3600

export async function createShare(
  context: Context,
  caller: LockerCaller,
  { path, expires_in_hours: hours = DEFAULT_SHARE_HOURS, label }: Body<typeof endpoint>,
): Promise<Share> {
  const { signer } = caller
  const { locker_id } = caller.locker
  await limitSigner(context, signer)
  await requireContent(context, caller.locker, path)
  const now = unixNow(context)
  const share = await context.continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    requireWritable(locker)
    const grant = grantTo(signer.identity, locker)
    if (!isGranted(locker, grant)) throw keyRemoved()
    if ((await pruneShares(tx, locker, now)) >= MAX_SHARES) throw tooMany()
    const row: ShareTable = {
      seed: context.shareIds.newSeed(context.randomBytes),
      locker_id,
      path,
      label: label ?? null,
      minted_by: grant.key,
      minted_epoch: grant.epoch,
      created_at: now,
      expires_at: hours === null ? null : now + hours * HOUR_SECONDS,
      last_used_at: null,
    }
    await insertShare(tx, row)
    await record({ what: 'share_made', locker: locker_id, row })
    return row
  })
  context.log.info({ locker_id, path, expires_at: share.expires_at }, 'created a share')
  return shownShare(context, share)
}

/** A mistyped path would open what somebody stores there later. */
async function requireContent(context: Context, locker: Locker, path: string): Promise<void> {
  if (namesLocker(locker, path)) throw badPath('must not name the receipt or its locker')
  const { locker_id } = locker
  if (isFolder({ path })) {
    const [first] = await filesIn(context.database.db, locker_id, { from: path, upTo: topOf(path) }, 1)
    if (!first) throw noContent(path, folderProblem(context, path))
    return
  }
  const file = await findCurrent(context, locker, path)
  if (!file) throw noContent(path, filenameProblem(path, context.config.storage.systemPrefix))
  if (file.object_id === null) throw contentNotFound(locker_id, path)
}

/** Counts the live shares of a locker and deletes the others. The caller holds the lock of the locker. */
async function pruneShares(tx: Tx, locker: Locker, now: number): Promise<number> {
  const shares = await sharesOfLocker(tx, locker.locker_id)
  const ended = shares.filter((share) => !isLive(share, locker, now))
  await deleteShares(tx, ended)
  return shares.length - ended.length
}

/** Only missing names are checked against the rules: a stored name stays readable after the rules change. */
function noContent(path: string, problem: string | null): ServiceError {
  if (problem !== null) return badPath(problem)
  return new ServiceError('FILE_NOT_FOUND', 'the locker has nothing at this path', {
    hint: "upload the file first; names are compared byte for byte, and a folder ends with '/'",
    details: { path },
  })
}

function badPath(msg: string): ServiceError {
  return new ValidationError({ loc: ['body', 'path'], msg })
}

function tooMany(): ServiceError {
  return new ServiceError('SHARE_LIMIT_EXCEEDED', `a locker may have ${MAX_SHARES} shares`, {
    hint: 'end one first: GET /v1/lockers/{locker_id}/shares lists when each was last used',
    details: { limit: MAX_SHARES },
  })
}
