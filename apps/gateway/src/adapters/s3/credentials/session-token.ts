// Short-lived credentials. Their whole scope is sealed in the session token; the access key id and the secret are
// derived from the token, so nothing is stored.

import { fromUtf8, utf8 } from '@svc/protocol/bytes'
import type { Grant } from '../../../lockers/access.ts'
import type { CredentialKeys } from './credential-keys.ts'

type S3Access = 'read' | 'write'

/** What a credential opens. */
export type CredentialScope = LockerScope | WalletScope

interface Scope {
  /** `write` includes reading. */
  access: S3Access
  /** Unix seconds. */
  expiresAt: number
}

/** One locker. */
export interface LockerScope extends Scope {
  lockerId: string
  /** The key that requested the credential, and the locker's access epoch at that time. */
  grant: NonNullable<Grant>
  /** Object keys must begin with it; empty for the whole locker. */
  prefix: string
}

/** All lockers of a wallet, including lockers that it buys later. */
export interface WalletScope extends Scope {
  wallet: string
  /** The access epochs of lockers with a revocation before the credential; 0 for all others. */
  epochs: Readonly<Record<string, number>>
  /** Unix seconds. */
  mintedAt: number
  /** The id of a long-lived key. */
  s3Key?: string
}

export interface Session {
  accessKeyId: string
  secret: string
  token: string
}

const PREFIX = 'SVCS'
const MARK_CHARACTERS = 16

export function sealSession(keys: CredentialKeys, scope: CredentialScope, salt: Uint8Array): Session {
  const { access: a, expiresAt: x } = scope
  const opens =
    'wallet' in scope
      ? { w: scope.wallet, e: scope.epochs, a, m: scope.mintedAt, x }
      : { l: scope.lockerId, k: scope.grant.key, e: scope.grant.epoch, a, p: scope.prefix, x }
  const token = keys.seal(utf8(JSON.stringify(opens)), salt)
  return { accessKeyId: idOf(keys, token), secret: keys.secretOf(token), token }
}

/** Null for a token of another gateway, a modified token, or a token of another access key id. */
export function openSession(
  keys: CredentialKeys,
  accessKeyId: string,
  token: string,
): (CredentialScope & { secret: string }) | null {
  const plain = keys.open(token)
  if (!plain || idOf(keys, token) !== accessKeyId) return null
  const { l, k, w, e, a, p, m, x } = JSON.parse(fromUtf8(plain) as string) // written by sealSession
  const secret = keys.secretOf(token)
  if (w !== undefined) return { wallet: w, epochs: e, access: a, mintedAt: m, expiresAt: x, secret }
  return { lockerId: l, grant: { key: k, epoch: e }, access: a, prefix: p, expiresAt: x, secret }
}

function idOf(keys: CredentialKeys, token: string): string {
  return PREFIX + keys.mark(token, MARK_CHARACTERS)
}
