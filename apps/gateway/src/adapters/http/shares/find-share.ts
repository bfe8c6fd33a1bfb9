// Resolves the id of a share to its locker and its files. A share that has ended looks like one that never existed, and
// no answer names the locker or its receipt.

import { ServiceError } from '@svc/service/service-error'
import { requireServed } from '../../../auth/restrictions.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { FileRow, Locker, ShareTable } from '../../../db/schema.ts'
import { findFile, findLockerOf } from '../../../files/store.ts'
import { grantOf, isGranted } from '../../../lockers/access.ts'
import { findShare } from './store.ts'

export interface FoundShare {
  share: ShareTable
  locker: Locker
}

export async function requireShare(context: Context, id: string): Promise<FoundShare> {
  const { db } = context.database
  const seed = context.shareIds.seedOf(id)
  const share = seed === null ? null : await findShare(db, seed)
  const locker = share && (await findLockerOf(db, { locker_id: share.locker_id }))
  if (!locker || !isLive(share, locker, unixNow(context))) throw shareNotFound()
  requireServed(locker)
  context.recordShareUse(share.seed)
  return { share, locker }
}

export function isLive(share: ShareTable, locker: Locker, now: number): boolean {
  return (share.expires_at === null || now < share.expires_at) && isGranted(locker, grantOf(share))
}

export function isFolder({ path }: Pick<ShareTable, 'path'>): boolean {
  return path.endsWith('/')
}

/** The last part of the path. */
export function nameOf({ path }: Pick<ShareTable, 'path'>): string {
  return path.replace(/\/$/, '').replace(/^.*\//s, '')
}

/** A share must not reveal the receipt or its locker, so it opens no file whose name does. */
export function namesLocker({ receipt_id, locker_id }: Locker, filename: string): boolean {
  return filename.includes(receipt_id) || filename.includes(locker_id)
}

/** `filename` is relative to a folder; for a file, it is the name of the share. */
export async function requireSharedFile(
  { database }: Context,
  { share, locker }: FoundShare,
  filename: string,
): Promise<FileRow> {
  const path = isFolder(share) ? share.path + filename : filename === nameOf(share) ? share.path : null
  const file = path === null || namesLocker(locker, path) ? null : await findFile(database.db, locker.locker_id, path)
  if (!file) throw refusal('FILE_NOT_FOUND')
  return file
}

const MESSAGES = {
  FILE_NOT_FOUND: ['the share has no file with this name', 'GET /v1/shares/{share_id} lists its files'],
  CONTENT_NOT_FOUND: ['the file has no bytes', 'try again later, or ask the sender of the share'],
  FILE_NOT_ATTESTED: [
    'the newest statement does not include the file as it is now',
    'ask the sender of the share to attest again',
  ],
  attestation_not_available: ['there is no statement about the file', 'ask the sender of the share to attest'],
} as const

/** Errors of reads name the locker, the receipt, or the folder of a file; those of a share must not. */
export function hideLocker(error: unknown): never {
  const code = error instanceof ServiceError ? (error.code as keyof typeof MESSAGES) : null
  throw code !== null && Object.hasOwn(MESSAGES, code) ? refusal(code) : error
}

export function notProven(): ServiceError {
  return refusal('FILE_NOT_ATTESTED')
}

function refusal(code: keyof typeof MESSAGES): ServiceError {
  const [message, hint] = MESSAGES[code]
  return new ServiceError(code, message, { hint })
}

function shareNotFound(): ServiceError {
  return new ServiceError('SHARE_NOT_FOUND', 'no share has this address', {
    hint: 'use the exact address; a share may have expired, so ask the sender for another',
  })
}
