// Credentials for S3 clients, which see a locker as a bucket. They give access to one locker or all lockers of the
// signer.

import {
  createS3Key as createEndpoint,
  createWalletS3Key as createWalletEndpoint,
  listS3Keys,
  listWalletS3Keys,
  mintS3Credentials,
  mintWalletS3Credentials,
  type NewS3Key,
  type NewWalletS3Key,
  revokeS3Key as revokeEndpoint,
  revokeWalletS3Key as revokeWalletEndpoint,
  type S3Credentials,
  type S3Key,
  type WalletS3Credentials,
  type WalletS3Key,
} from '@svc/api/s3-credentials'
import { call } from './calls/call.ts'
import type { Context } from './context.ts'
import { isGatewayError, UntrueAnswer } from './errors.ts'
import type { Locker } from './lockers.ts'

export interface WalletS3CredentialOptions {
  /** `write` includes reading. */
  access?: 'read' | 'write'
  /** At most 60, which is the default. */
  minutes?: number
  signal?: AbortSignal | undefined
}

export interface S3CredentialOptions extends WalletS3CredentialOptions {
  /** A folder with its final `/`. By default the whole locker. */
  prefix?: string
}

export interface WalletS3KeyOptions extends Omit<WalletS3CredentialOptions, 'minutes'> {
  /** A label for the key. */
  name: string
  /** At most 365. */
  days: number
}

export interface S3KeyOptions extends WalletS3KeyOptions {
  /** The same as in `S3CredentialOptions`. */
  prefix?: string
}

/** Gets credentials for an owner or operator, which end within an hour, or when the key that signed is removed. */
export async function s3Credentials(
  context: Context,
  { locker_id }: Locker,
  { access = 'read', prefix, minutes, signal }: S3CredentialOptions = {},
): Promise<S3Credentials> {
  // The declaration allows either op, but credentials that write must be signed for writing.
  const endpoint = { ...mintS3Credentials, auth: { ops: [`locker:${access}`] } } as const
  const body = {
    access,
    ...(prefix !== undefined && { prefix }),
    ...(minutes !== undefined && { ttl_min: minutes }),
  }
  const { body: credentials } = await call(context, endpoint, { params: { locker_id }, body, signal })
  requireOfLocker(credentials, locker_id)
  requireToken(credentials)
  return credentials
}

/** Gets credentials for all lockers that the signer owns, as one endpoint with a bucket for each. */
export async function walletS3Credentials(
  context: Context,
  { access = 'read', minutes, signal }: WalletS3CredentialOptions = {},
): Promise<WalletS3Credentials> {
  const endpoint = { ...mintWalletS3Credentials, auth: { ops: [`locker:${access}`] } } as const
  const body = { access, ...(minutes !== undefined && { ttl_min: minutes }) }
  const { body: credentials } = await call(context, endpoint, { query: walletOf(context), body, signal })
  requireSafe(credentials)
  requireToken(credentials)
  return credentials
}

/** Makes a key of a locker for clients that cannot request credentials themselves. Only the owner can; its secret is shown once. */
export async function createS3Key(
  context: Context,
  { locker_id }: Locker,
  { name, access = 'read', prefix, days, signal }: S3KeyOptions,
): Promise<NewS3Key> {
  const body = { name, access, expires_in_days: days, ...(prefix !== undefined && { prefix }) }
  const { body: key } = await call(context, createEndpoint, { params: { locker_id }, body, signal })
  requireOfLocker(key, locker_id)
  return key
}

/** Makes a key for all lockers that the signer owns, including later ones. */
export async function createWalletS3Key(
  context: Context,
  { name, access = 'read', days, signal }: WalletS3KeyOptions,
): Promise<NewWalletS3Key> {
  const body = { name, access, expires_in_days: days }
  const { body: key } = await call(context, createWalletEndpoint, { query: walletOf(context), body, signal })
  requireSafe(key)
  return key
}

/** Lists the valid keys of a locker, for its owner. */
export async function s3Keys(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<S3Key[]> {
  return (await call(context, listS3Keys, { params: { locker_id }, signal })).body.keys
}

/** Lists the keys for all lockers of the signer. Keys of single lockers are not included. */
export async function walletS3Keys(context: Context, signal?: AbortSignal): Promise<WalletS3Key[]> {
  return (await call(context, listWalletS3Keys, { query: walletOf(context), signal })).body.keys
}

/** Ends a key of a locker immediately. */
export async function revokeS3Key(
  context: Context,
  { locker_id }: Locker,
  access_key_id: string,
  signal?: AbortSignal,
): Promise<void> {
  await revoked(call(context, revokeEndpoint, { params: { locker_id, access_key_id }, signal }))
}

/** Ends a key for all lockers of the signer immediately. */
export async function revokeWalletS3Key(context: Context, access_key_id: string, signal?: AbortSignal): Promise<void> {
  await revoked(call(context, revokeWalletEndpoint, { params: { access_key_id }, query: walletOf(context), signal }))
}

async function revoked(calling: Promise<unknown>): Promise<void> {
  try {
    await calling
  } catch (error) {
    // After a lost answer, the first attempt may have revoked it.
    if (!isGatewayError(error, 'S3_KEY_NOT_FOUND') || error.attempts === 1) throw error
  }
}

function walletOf({ signer }: Context): { wallet: string } {
  if (!signer) throw new TypeError('S3 credentials of a wallet need a client with a signer')
  return { wallet: signer.address }
}

const ID = /^[A-Z0-9]{16,128}$/
const SECRET = /^[A-Za-z0-9_+/=-]{16,128}$/
const TOKEN = /^[A-Za-z0-9_+/=-]{1,4096}$/
const REGION = /^[a-z0-9-]{1,64}$/
const ENDPOINT = /^https?:\/\/[A-Za-z0-9.:[\]-]+(\/[A-Za-z0-9._~/-]*)?$/

function requireOfLocker(given: Pasted & { bucket: string }, lockerId: string): void {
  if (given.bucket !== lockerId) throw new UntrueAnswer('the S3 credentials are for another locker')
  requireSafe(given)
}

type Pasted = Pick<S3Credentials, 'access_key_id' | 'secret_access_key' | 'endpoint' | 'region'>

/** Credentials are pasted into shells and settings files, where other characters could run commands. */
function requireSafe({ access_key_id, secret_access_key, endpoint, region }: Pasted): void {
  const isSafe =
    ID.test(access_key_id) && SECRET.test(secret_access_key) && REGION.test(region) && ENDPOINT.test(endpoint)
  if (!isSafe) throw new UntrueAnswer('the S3 credentials are malformed')
}

function requireToken({ session_token }: { session_token: string }): void {
  if (!TOKEN.test(session_token)) throw new UntrueAnswer('the S3 session token is malformed')
}
