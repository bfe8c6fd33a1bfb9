// Resolves the token of a short URL to a file. Every fault except expiry gets the same response, so that a guesser
// learns nothing (T-07).

import { hash } from 'node:crypto'
import { providerCode } from '@svc/api/providers'
import { lru } from '@svc/concurrency/caches'
import { type Ed25519Verifier, ed25519PublicKey } from '@svc/protocol/keys'
import { readToken, type ShortUrlToken } from '@svc/protocol/short-url'
import type { ServiceError } from '@svc/service/service-error'
import { requireServed, requireWritable } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Db, FileRow, Locker } from '../../db/schema.ts'
import { fileNotFound, uploadError } from '../../files/errors.ts'
import { pageOfFiles } from '../../files/lists/store.ts'
import { findFile, findLockerOf } from '../../files/store.ts'
import { type Grant, isGranted, keysOf } from '../../lockers/access.ts'

export interface OpenedFile {
  locker: Locker
  file: FileRow
  /** Seconds until the token expires. */
  expiresIn: number
  /** The key that requested the token. */
  grant: Grant
}

export type OpenToken = (token: string, method: string) => Promise<OpenedFile>

/** Checking a signature takes longer than serving a small file, and URLs are often reused. */
const CACHED = 1000

/**
 * Checks signature, method and expiry before it reads the database. The locker's row shows whether access was revoked.
 */
export function createTokenOpener(context: Context): OpenToken {
  const key = ed25519PublicKey(context.signers.shortUrl.publicKey) as Ed25519Verifier
  const signed = lru<string, ShortUrlToken>(CACHED)

  function read(text: string): ShortUrlToken | null {
    const known = signed.get(text)
    if (known) return known
    const token = readToken(text, key)
    if (token) signed.set(text, token)
    return token
  }

  return async (text, method) => {
    const token = read(text)
    if (!token || token.method !== (method === 'HEAD' ? 'GET' : method)) throw invalidToken()
    const expiresIn = token.expires - unixNow(context)
    if (expiresIn <= 0) throw expiredToken()
    const locker = await findLockerOf(context.database.db, { locker_id: token.lockerId })
    if (locker && providerCode(locker.provider) !== token.provider) throw invalidToken()
    const grant = locker && readGrant(context, locker, token)
    if (grant === 'ended') throw invalidToken()
    if (locker && token.method === 'GET') requireServed(locker)
    else if (locker) requireWritable(locker)
    const file = locker && (await findFileOf(context, token))
    if (!file) throw fileNotFound('filename' in token ? token.filename : '')
    return { locker, file, expiresIn, grant }
  }
}

function readGrant({ markKey }: Context, locker: Locker, { minted }: ShortUrlToken): Grant | 'ended' {
  const key = minted && keysOf(locker).find((key) => markKey(locker.locker_id, key) === minted.by)
  if (minted && key === undefined) return 'ended'
  const grant = minted && key !== undefined ? { key, epoch: minted.epoch } : null
  return isGranted(locker, grant) ? grant : 'ended'
}

function findFileOf({ database }: Context, token: ShortUrlToken): Promise<FileRow | null> {
  if ('filename' in token) return findFile(database.db, token.lockerId, token.filename)
  return findByNameHash(database.db, token.lockerId, token.filenameHash)
}

const PAGE = 1000

/** Tokens of the old form contain a hash of the name (SHORT-12). They are too rare to justify an index. */
async function findByNameHash(
  db: Db,
  lockerId: string,
  nameHash: string,
  after: string | null = null,
): Promise<FileRow | null> {
  const page = await pageOfFiles(db, lockerId, after, PAGE)
  const found = page.find(({ filename }) => hash('sha256', filename) === nameHash)
  const last = page.at(-1)
  if (found) return findFile(db, lockerId, found.filename)
  if (!last) return null
  return findByNameHash(db, lockerId, nameHash, last.filename)
}

export function invalidToken(): ServiceError {
  return uploadError('SHORT_URL_INVALID', 'this URL is invalid', {
    layer: 'gateway',
    recovery_hint: 'use the exact URL with the method it was created for, or request new URLs',
    next_best_method: FRESH_URLS,
  })
}

function expiredToken(): ServiceError {
  return uploadError('SHORT_URL_EXPIRED', 'this URL has expired', {
    layer: 'gateway',
    recovery_hint: 'request new URLs for the file',
    next_best_method: FRESH_URLS,
  })
}

const FRESH_URLS = 'GET /v1/lockers/{locker_id}/files/{filename}'
