// Credentials for S3 clients, which reach a locker as a bucket.

import {
  createS3Key as createEndpoint,
  listS3Keys,
  mintS3Credentials,
  type NewS3Key,
  revokeS3Key as revokeEndpoint,
  type S3Credentials,
  type S3Key,
} from '@svc/api/s3-credentials'
import { call } from './calls/call.ts'
import type { Context } from './context.ts'
import { isGatewayError, UntrueAnswer } from './errors.ts'
import type { Locker } from './lockers.ts'

export interface S3CredentialOptions {
  /** Whether the credentials may write, too. */
  access?: 'read' | 'write'
  /** A folder, with `/` at its end; the whole locker unless given. */
  prefix?: string
  /** At most 60, and 60 unless given. */
  minutes?: number
  signal?: AbortSignal | undefined
}

export interface S3KeyOptions extends Omit<S3CredentialOptions, 'minutes'> {
  /** What it is for. */
  name: string
  /** At most 365. */
  days: number
}

/** Credentials that end within the hour, for the owner and operators. They end with the key that signs for them. */
export async function s3Credentials(
  context: Context,
  { locker_id }: Locker,
  { access = 'read', prefix, minutes, signal }: S3CredentialOptions = {},
): Promise<S3Credentials> {
  // The declaration allows either op, and what writes must be signed for writing.
  const endpoint = { ...mintS3Credentials, auth: { ops: [`locker:${access}`] } } as const
  const body = {
    access,
    ...(prefix !== undefined && { prefix }),
    ...(minutes !== undefined && { ttl_min: minutes }),
  }
  const { body: credentials } = await call(context, endpoint, { params: { locker_id }, body, signal })
  requireSafe(credentials, locker_id)
  if (!TOKEN.test(credentials.session_token)) throw new UntrueAnswer('the S3 session token is malformed')
  return credentials
}

/** A key for clients that cannot ask for credentials themselves. Only the owner can make one; its secret is shown once. */
export async function createS3Key(
  context: Context,
  { locker_id }: Locker,
  { name, access = 'read', prefix, days, signal }: S3KeyOptions,
): Promise<NewS3Key> {
  const body = { name, access, expires_in_days: days, ...(prefix !== undefined && { prefix }) }
  const { body: key } = await call(context, createEndpoint, { params: { locker_id }, body, signal })
  requireSafe(key, locker_id)
  return key
}

/** The keys of a locker that work, for its owner. */
export async function s3Keys(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<S3Key[]> {
  return (await call(context, listS3Keys, { params: { locker_id }, signal })).body.keys
}

/** Ends a key immediately. */
export async function revokeS3Key(
  context: Context,
  { locker_id }: Locker,
  access_key_id: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await call(context, revokeEndpoint, { params: { locker_id, access_key_id }, signal })
  } catch (error) {
    // After a lost answer, the first attempt may have revoked it.
    if (!isGatewayError(error, 'S3_KEY_NOT_FOUND') || error.attempts === 1) throw error
  }
}

const ID = /^[A-Z0-9]{16,128}$/
const SECRET = /^[A-Za-z0-9_+/=-]{16,128}$/
const TOKEN = /^[A-Za-z0-9_+/=-]{1,4096}$/
const REGION = /^[a-z0-9-]{1,64}$/
const ENDPOINT = /^https?:\/\/[A-Za-z0-9.:[\]-]+(\/[A-Za-z0-9._~/-]*)?$/

/** These are pasted into shells and files of settings, where other characters could do more than they seem to. */
function requireSafe(
  given: Omit<S3Credentials, 'session_token' | 'expires_at' | 'prefix' | 'access'>,
  lockerId: string,
) {
  const { access_key_id, secret_access_key, endpoint, region, bucket } = given
  if (bucket !== lockerId) throw new UntrueAnswer('the S3 credentials are for another locker')
  const isSafe =
    ID.test(access_key_id) && SECRET.test(secret_access_key) && REGION.test(region) && ENDPOINT.test(endpoint)
  if (!isSafe) throw new UntrueAnswer('the S3 credentials are malformed')
}
