// Long-lived keys as rows of the database. A secret is derived from the row and the gateway's own key: a row that was
// modified in the database, to reach another locker or to last longer, gets a different, unknown secret.

import type { S3Key, WalletS3Key } from '@svc/api/s3-credentials'
import { isoSeconds } from '@svc/protocol/evidence'
import type { S3KeyTable } from '../../../db/schema.ts'
import type { CredentialKeys } from './credential-keys.ts'
import type { CredentialScope, LockerScope, WalletScope } from './session-token.ts'

export function secretOfKey(keys: CredentialKeys, row: Omit<S3KeyTable, 'name' | 'last_used_at'>): string {
  const { access_key_id, locker_id, minted_by, minted_epoch, minted_epochs, access, prefix, created_at, expires_at } =
    row
  const texts = [access_key_id, locker_id, minted_by, minted_epoch, access, prefix, created_at, expires_at]
  return keys.secretOf(JSON.stringify(minted_epochs == null ? texts : [...texts, minted_epochs]))
}

export function scopeOfKey(row: S3KeyTable): CredentialScope {
  return row.locker_id === '' ? walletScope(row) : lockerScope(row)
}

export function lockerScope(row: S3KeyTable): LockerScope {
  return {
    lockerId: row.locker_id,
    grant: { key: row.minted_by, epoch: row.minted_epoch, s3Key: row.access_key_id },
    access: row.access,
    prefix: row.prefix,
    expiresAt: row.expires_at,
  }
}

function walletScope(row: S3KeyTable): WalletScope {
  return {
    wallet: row.minted_by,
    epochs: JSON.parse(row.minted_epochs ?? '{}'),
    mintedAt: row.created_at,
    s3Key: row.access_key_id,
    access: row.access,
    expiresAt: row.expires_at,
  }
}

/** The key as its owner sees it. */
export function shownKey({ created_at, expires_at, last_used_at, ...row }: S3KeyTable): S3Key {
  return {
    access_key_id: row.access_key_id,
    name: row.name,
    access: row.access,
    prefix: row.prefix,
    created_at: isoSeconds(created_at),
    expires_at: isoSeconds(expires_at),
    last_used_at: last_used_at === null ? null : isoSeconds(last_used_at),
  }
}

export function shownWalletKey(row: S3KeyTable): WalletS3Key {
  const { prefix: _, ...shown } = shownKey(row)
  return shown
}
