// Short-lived credentials. All that they stand for is sealed in the session token; access key id and secret follow from
// the token, and nothing is stored.

import { fromUtf8, utf8 } from '@svc/protocol/bytes'
import type { Grant } from '../../lockers/access.ts'
import type { CredentialKeys } from './credential-keys.ts'

type S3Access = 'read' | 'write'

/** What a credential opens. */
export interface CredentialScope {
  lockerId: string
  /** Who asked for it, and in which access epoch of the locker. */
  grant: NonNullable<Grant>
  /** Whoever may write may read. */
  access: S3Access
  /** Keys begin with it; empty for the whole locker. */
  prefix: string
  /** Unix seconds. */
  expiresAt: number
}

export interface Session {
  accessKeyId: string
  secret: string
  token: string
}

const PREFIX = 'SVCS'
const MARK_CHARACTERS = 16

export function sealSession(keys: CredentialKeys, scope: CredentialScope, salt: Uint8Array): Session {
  const { lockerId: l, grant, access: a, prefix: p, expiresAt: x } = scope
  const token = keys.seal(utf8(JSON.stringify({ l, k: grant.key, e: grant.epoch, a, p, x })), salt)
  return { accessKeyId: idOf(keys, token), secret: keys.secretOf(token), token }
}

/** Null for a token of another gateway, one that was changed, and one of another access key id. */
export function openSession(
  keys: CredentialKeys,
  accessKeyId: string,
  token: string,
): (CredentialScope & { secret: string }) | null {
  const plain = keys.open(token)
  if (!plain || idOf(keys, token) !== accessKeyId) return null
  const { l, k, e, a, p, x } = JSON.parse(fromUtf8(plain) as string) // as sealSession wrote it
  return { lockerId: l, grant: { key: k, epoch: e }, access: a, prefix: p, expiresAt: x, secret: keys.secretOf(token) }
}

function idOf(keys: CredentialKeys, token: string): string {
  return PREFIX + keys.mark(token, MARK_CHARACTERS)
}
