// Who is calling, by an S3 signature. The checks run in the order of this page; the first that fails is answered.

import { addressKey } from '@svc/guard/address-key'
import type { WireRequest } from '@svc/http-service/wire-request'
import { readAuthorization } from '@svc/s3/authorization'
import { S3Error, s3Error } from '@svc/s3/errors'
import { checkSignature, type SignedRequest } from '@svc/s3/signature'
import { requireServed, requireShortLink, requireWritable } from '../auth/restrictions.ts'
import { unixNow } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { isGranted } from '../lockers/access.ts'
import { findCredential, type S3Credential } from './credentials/find-credential.ts'
import type { S3Request } from './request.ts'
import type { S3Context } from './room.ts'

export interface S3Caller {
  locker: Locker
  credential: S3Credential
}

/** Who signed the head of a request. */
export async function authenticate(
  context: S3Context,
  wire: WireRequest,
): Promise<{ signed: SignedRequest; caller: S3Caller }> {
  const authorization = readAuthorization(wire)
  const { rateLimiter, config } = context
  const limit = { key: `bad signatures ${addressKey(wire.clientAddress)}`, perMinute: config.limits.perAddress }
  rateLimiter.refuseExhausted(limit)
  const credential = await findCredential(context, authorization.accessKeyId, authorization.sessionToken)
  try {
    if (!credential) throw unknownKey()
    const signed = checkSignature(wire, authorization, credential.secret, unixNow(context), context.signingKeyOf)
    const caller = { credential, locker: await requireLocker(context, credential) }
    context.noteKeyUse(credential)
    return { signed, caller }
  } catch (error) {
    if (error instanceof S3Error && GUESSES.includes(error.code)) await rateLimiter.take(limit)
    throw error
  }
}

/** What somebody who guesses keys and secrets gets to see. */
const GUESSES: readonly string[] = ['InvalidAccessKeyId', 'SignatureDoesNotMatch']

async function requireLocker({ findLocker }: S3Context, { lockerId, grant }: S3Credential): Promise<Locker> {
  const locker = await findLocker(lockerId)
  if (locker && isGranted(locker, grant)) return locker
  throw accessEnded()
}

/** Whether a caller may do what a request asks for. A bucket of others is refused alike whether or not it exists. */
export function requireAllowed(
  { credential, locker }: S3Caller,
  { bucket, key, signed }: S3Request,
  needs: 'read' | 'write',
): void {
  if (bucket !== '' && bucket !== credential.lockerId) {
    throw s3Error(
      'AccessDenied',
      'this access key opens another bucket',
      'a key opens the locker it was made for; lockers are bought, not created',
    )
  }
  if (key !== '') requireWithinPrefix(credential, key)
  if (needs === 'write' && credential.access !== 'write') {
    throw s3Error('AccessDenied', 'this access key may only read', 'make a key that may write')
  }
  if (needs === 'write') requireWritable(locker)
  else if (key !== '') requireServed(locker)
  requireShortLink(locker, signed.authorization.expiresIn)
}

/** For every key that an operation reads or writes, beside that of the path. */
export function requireWithinPrefix({ prefix }: S3Credential, key: string): void {
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
