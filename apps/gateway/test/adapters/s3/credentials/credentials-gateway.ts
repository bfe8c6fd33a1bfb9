// For tests: requests for S3 credentials, and the scope that the gateway finds for a credential.

import type {
  NewS3Key,
  NewWalletS3Key,
  S3Credentials,
  S3KeyList,
  WalletS3Credentials,
  WalletS3KeyList,
} from '@svc/api/s3-credentials'
import type { Identity, Reply, TestGateway, TestLocker } from '@svc/devnet/services/test-gateway'
import { expect } from 'vitest'
import { findCredential, type S3Credential } from '../../../../src/adapters/s3/credentials/find-credential.ts'

export const KEY = { name: 'backup', access: 'write', expires_in_days: 30 }

export function askCredentials(locker: TestLocker, body: object = {}, who?: Identity, ops?: string[]) {
  const { access } = body as { access?: string }
  const needed = ops ?? [access === 'write' ? 'locker:write' : 'locker:read']
  return locker.call<S3Credentials>(needed, 'POST', '/s3/credentials', body, who)
}

export function askKey(locker: TestLocker, changes: object = {}, who?: Identity) {
  return locker.call<NewS3Key>(['locker:admin'], 'POST', '/s3/keys', { ...KEY, ...changes }, who)
}

export async function listKeys(locker: TestLocker): Promise<S3KeyList['keys']> {
  return expectSuccess(await locker.call<S3KeyList>(['locker:admin'], 'GET', '/s3/keys')).keys
}

export function revokeKey(locker: TestLocker, accessKeyId: string) {
  return locker.call(['locker:admin'], 'DELETE', `/s3/keys/${accessKeyId}`)
}

export function expectSuccess<Body>({ status, body }: Reply<Body>): Body {
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

/** The scope that the S3 endpoint finds for a credential, before it reads the locker. */
export function findScope(
  { gateway }: TestGateway,
  { access_key_id, session_token = null }: { access_key_id: string; session_token?: string | null },
): Promise<S3Credential | null> {
  return findCredential(gateway.context, access_key_id, session_token)
}

/** Requests or lists credentials for all lockers that the wallet owns. */
export function callWallet<Body>(
  { gateway, call }: TestGateway,
  wallet: Identity,
  [method, path]: [method: string, path: string],
  { ops = ['locker:admin'], body, who = wallet }: { ops?: string[]; body?: object; who?: Identity } = {},
): Promise<Reply<Body>> {
  const target = `${path}?wallet=${wallet.identity}`
  return call(who, { method, path: target, ops, body, envelope: { aud: gateway.context.config.http.baseUrl } })
}

export function askWalletKey(instance: TestGateway, wallet: Identity, changes: object = {}, who?: Identity) {
  const body = { ...KEY, ...changes }
  return callWallet<NewWalletS3Key>(instance, wallet, ['POST', '/v1/s3/keys'], { body, ...(who && { who }) })
}

export function askWalletCredentials(
  instance: TestGateway,
  wallet: Identity,
  body: { access?: string; ttl_min?: number },
) {
  const ops = [body.access === 'write' ? 'locker:write' : 'locker:read']
  return callWallet<WalletS3Credentials>(instance, wallet, ['POST', '/v1/s3/credentials'], { ops, body })
}

export async function listWalletKeys(instance: TestGateway, wallet: Identity): Promise<WalletS3KeyList['keys']> {
  return expectSuccess(await callWallet<WalletS3KeyList>(instance, wallet, ['GET', '/v1/s3/keys'])).keys
}

export function revokeWalletKey(instance: TestGateway, wallet: Identity, accessKeyId: string) {
  return callWallet(instance, wallet, ['DELETE', `/v1/s3/keys/${accessKeyId}`])
}
