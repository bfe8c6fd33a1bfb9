// Who is calling, by an S3 signature. The checks run in the order of this page; the first that fails is answered.

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
  /** As the client calls the locker. */
  bucket: string
  /** What the client holds. */
  held: S3Credential
  /** What that opens in this locker. */
  credential: LockerScope
}

/** Who signed the head of a request. */
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

/** What somebody who guesses keys and secrets gets to see. */
const GUESSES: readonly string[] = ['InvalidAccessKeyId', 'SignatureDoesNotMatch']

/** The lockers that a credential opens, by the names of their buckets. */
export async function findBuckets(context: Context, held: S3Credential): Promise<Map<string, Locker>> {
  const { database, continuity } = context
  if (!('wallet' in held)) {
    const { locker } = await openBucket(context, held, held.lockerId)
    return new Map([[locker.locker_id, locker]])
  }
  const owned = await lockersOwnedBy(database.db, held.wallet)
  const nameOf = bucketNames(owned)
  const opened = owned.filter((locker) => isGranted(locker, scopeIn(held, locker).grant))
  await continuity.requireWritten(...opened.map(({ locker_id: key }) => ({ kind: 'locker', key }) as const))
  context.noteKeyUse(held)
  return new Map(opened.map((locker) => [nameOf(locker), locker]))
}

/** Whether a credential of one locker is about this bucket is found out by `requireAllowed`. */
export async function openBucket(context: Context, held: S3Credential, bucket: string): Promise<S3Caller> {
  const locker = 'wallet' in held ? await findOwned(context, held, bucket) : await context.findLocker(held.lockerId)
  if (!locker) throw 'wallet' in held ? otherBucket(OF_WALLET) : accessEnded()
  const credential = 'wallet' in held ? scopeIn(held, locker) : held
  if (!isGranted(locker, credential.grant)) throw accessEnded()
  if ('wallet' in held) requireShortLink(locker, newLife(held, locker))
  context.noteKeyUse(held)
  return { locker, bucket, held, credential }
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

/** A frozen locker gives no new access that lasts: how long a credential lasts that is newer than the restriction. */
function newLife({ mintedAt, expiresAt }: WalletScope, { restricted_at }: Locker): number | null {
  const restrictedAt = restricted_at === null ? null : unixSeconds(restricted_at)
  return restrictedAt !== null && mintedAt >= restrictedAt ? expiresAt - mintedAt : null
}

/** Whether a caller may do what a request asks for. A bucket of others is refused alike whether or not it exists. */
export function requireAllowed(
  { credential, locker, held }: S3Caller,
  { bucket, key, signed }: S3Request,
  needs: 'read' | 'write',
): void {
  if (!('wallet' in held) && bucket !== held.lockerId) throw otherBucket(OF_LOCKER)
  if (key !== '') requireWithinPrefix(credential, key)
  if (needs === 'write' && credential.access !== 'write') {
    throw s3Error('AccessDenied', 'this access key may only read', 'make a key that may write')
  }
  if (needs === 'write') requireWritable(locker)
  else if (key !== '') requireServed(locker)
  requireShortLink(locker, signed.authorization.expiresIn)
}

const OF_LOCKER = 'a key opens the locker it was made for; lockers are bought, not created'
const OF_WALLET =
  'a key of a wallet opens its lockers, by their ids, and by names that buckets can have and no two of them share; lockers are bought, not created: svc buy --name NAME'

function otherBucket(hint: string): S3Error {
  return s3Error('AccessDenied', 'this access key opens another bucket', hint)
}

/** For every key that an operation reads or writes, beside that of the path. */
export function requireWithinPrefix({ prefix }: LockerScope, key: string): void {
  if (key.startsWith(prefix)) return
  throw s3Error(
    'AccessDenied',
    'this access key opens only a part of the bucket',
    `name keys that begin with ${prefix}`,
  )
}

/** Also thrown where the access of a caller ends while a request is served. */
export function accessEnded(): S3Error {
  return s3Error('AccessDenied', 'this access key no longer works', 'ask the owner of the locker for another one')
}

function unknownKey(): S3Error {
  return s3Error(
    'InvalidAccessKeyId',
    'there is no such access key, or it has expired',
    'make a new one; where it came with a session token, send that too',
  )
}
