// Authenticates and authorizes a caller by S3 signature. The checks run in the order of this file; the first that fails
// determines the response.

import { unixSeconds } from '@svc/protocol/evidence'
import { readAuthorization } from '@svc/s3/authorization'
import { S3Error, s3Error } from '@svc/s3/errors'
import { checkSignature, type SignedRequest } from '@svc/s3/signature'
import { addressKey } from '@svc/service/guard/address-key'
import type { WireRequest } from '@svc/service/http/wire-request'
import { requireServed, requireShortLink, requireWritable } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { isGranted } from '../../lockers/access.ts'
import { lockersOwnedBy } from '../../lockers/store.ts'
import { bucketNames, findNamed } from './buckets/bucket-names.ts'
import { findCredential, type S3Credential } from './credentials/find-credential.ts'
import type { LockerScope, WalletScope } from './credentials/session-token.ts'
import type { S3Request } from './request.ts'

export interface S3Caller {
  locker: Locker
  /** The client's name for the locker. */
  bucket: string
  /** The credential that the client presented. */
  presented: S3Credential
  /** What it opens in this locker. */
  credential: LockerScope
}

/** Verifies the signature over the head of a request. */
export async function authenticate(
  context: Context,
  wire: WireRequest,
): Promise<{ signed: SignedRequest; credential: S3Credential }> {
  const authorization = readAuthorization(wire)
  const { rateLimiter, config } = context
  const limit = { key: `bad signatures ${addressKey(wire.clientAddress)}`, perMinute: config.limits.perAddress }
  rateLimiter.refuseExhausted(limit)
  const credential = await findCredential(context, authorization.accessKeyId, authorization.sessionToken)
  try {
    if (!credential) throw unknownKey()
    const signed = checkSignature(wire, authorization, credential.secret, unixNow(context), context.signingKeyOf)
    return { signed, credential }
  } catch (error) {
    if (error instanceof S3Error && GUESSES.includes(error.code)) await rateLimiter.take(limit)
    throw error
  }
}

/** The errors that reveal guessed keys and secrets. */
const GUESSES: readonly string[] = ['InvalidAccessKeyId', 'SignatureDoesNotMatch']

/** The lockers that a credential opens, by bucket name. */
export async function findBuckets(context: Context, presented: S3Credential): Promise<Map<string, Locker>> {
  const { database, continuity } = context
  if (!('wallet' in presented)) {
    const { locker } = await openBucket(context, presented, presented.lockerId)
    return new Map([[locker.locker_id, locker]])
  }
  const owned = await lockersOwnedBy(database.db, presented.wallet)
  const nameOf = bucketNames(owned)
  const opened = owned.filter((locker) => isGranted(locker, scopeIn(presented, locker).grant))
  await continuity.requireWritten(...opened.map(({ locker_id: key }) => ({ kind: 'locker', key }) as const))
  context.recordKeyUse(presented)
  return new Map(opened.map((locker) => [nameOf(locker), locker]))
}

/** `requireAllowed` checks whether a credential of one locker matches this bucket. */
export async function openBucket(context: Context, presented: S3Credential, bucket: string): Promise<S3Caller> {
  const locker =
    'wallet' in presented ? await findOwned(context, presented, bucket) : await context.findLocker(presented.lockerId)
  if (!locker) throw 'wallet' in presented ? otherBucket() : accessEnded()
  const credential = 'wallet' in presented ? scopeIn(presented, locker) : presented
  if (!isGranted(locker, credential.grant)) throw accessEnded()
  if ('wallet' in presented) requireShortLink(locker, newLife(presented, locker))
  context.recordKeyUse(presented)
  return { locker, bucket, presented, credential }
}

async function findOwned({ database, findLocker }: Context, { wallet }: WalletScope, bucket: string) {
  const locker = LOCKER_ID.test(bucket) ? await findLocker(bucket) : await findNamed(database.db, wallet, bucket)
  return locker?.owner === wallet ? locker : null
}

const LOCKER_ID = /^locker_[0-9a-f]{12}$/

function scopeIn({ wallet: key, epochs, s3Key, access, expiresAt }: WalletScope, { locker_id }: Locker): LockerScope {
  const epoch = Object.hasOwn(epochs, locker_id) ? (epochs[locker_id] as number) : 0
  return { lockerId: locker_id, grant: { key, epoch, ...(s3Key && { s3Key }) }, access, prefix: '', expiresAt }
}

/**
 * A frozen locker grants no new lasting access. Returns the lifetime of a credential that is newer than the
 * restriction.
 */
function newLife({ mintedAt, expiresAt }: WalletScope, { restricted_at }: Locker): number | null {
  const restrictedAt = restricted_at === null ? null : unixSeconds(restricted_at)
  return restrictedAt !== null && mintedAt >= restrictedAt ? expiresAt - mintedAt : null
}

/** Checks that a caller may make a request. Buckets of other owners get the same response whether or not they exist. */
export function requireAllowed(
  { credential, locker, presented }: S3Caller,
  { bucket, key, signed }: S3Request,
  needs: 'read' | 'write',
): void {
  if (!('wallet' in presented) && bucket !== presented.lockerId) throw onlyBucket(presented.lockerId)
  if (key !== '') requireWithinPrefix(credential, key)
  if (needs === 'write' && credential.access !== 'write') {
    throw s3Error('AccessDenied', 'this access key may only read', 'create a key with write access')
  }
  if (needs === 'write') requireWritable(locker)
  else if (key !== '') requireServed(locker)
  requireShortLink(locker, signed.authorization.expiresIn)
}

const OF_LOCKER =
  'a key opens only the locker that it was created for, by id; a key for all lockers opens each by name, too; lockers are bought, not created'
const OF_WALLET =
  'a wallet key opens the lockers of its wallet by id, and by name if the name is unique and a valid bucket name; lockers are bought, not created: svc buy --name NAME'

/** The message names the bucket, because most clients do not print the hint. */
function onlyBucket(lockerId: string): S3Error {
  return s3Error('AccessDenied', `this access key opens only ${lockerId}`, OF_LOCKER)
}

function otherBucket(): S3Error {
  return s3Error('AccessDenied', 'this access key opens another bucket', OF_WALLET)
}

/** Call for every key that an operation reads or writes besides the key of the path. */
export function requireWithinPrefix({ prefix }: LockerScope, key: string): void {
  if (key.startsWith(prefix)) return
  throw s3Error('AccessDenied', 'this access key opens only part of the bucket', `use keys that begin with ${prefix}`)
}

/** Also thrown when a caller's access ends while a request is served. */
export function accessEnded(): S3Error {
  return s3Error('AccessDenied', 'this access key no longer works', 'ask the owner of the locker for another key')
}

function unknownKey(): S3Error {
  return s3Error(
    'InvalidAccessKeyId',
    'this access key does not exist or has expired',
    'create a new key; if the key came with a session token, send the token too',
  )
}
