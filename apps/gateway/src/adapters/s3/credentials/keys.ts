// Long-lived keys, for clients that cannot request new credentials every hour. A key opens one locker, or all lockers
// of a wallet. Only the owner creates, lists and revokes them.

import type { Body } from '@svc/api/endpoint'
import {
  type createS3Key as endpoint,
  MAX_S3_KEYS,
  type NewS3Key,
  type NewWalletS3Key,
  type S3KeyList,
  type WalletS3KeyList,
  type createWalletS3Key as walletEndpoint,
} from '@svc/api/s3-credentials'
import { ServiceError } from '@svc/service/service-error'
import type { LockerCaller, WalletCaller } from '../../../auth/callers.ts'
import { limitSigner } from '../../../auth/limits.ts'
import { requireWritable } from '../../../auth/restrictions.ts'
import { type Context, unixNow } from '../../../context.ts'
import type { Locker, S3KeyTable } from '../../../db/schema.ts'
import { endWalletKey } from '../../../files/parts/end-wallet-key.ts'
import { expireSessionsOfKey } from '../../../files/parts/store.ts'
import { grantTo, isGranted } from '../../../lockers/access.ts'
import { deleteS3Key, lockLocker, lockOwner } from '../../../lockers/store.ts'
import { newKeyId } from './key-ids.ts'
import { lockerScope, secretOfKey, shownKey, shownWalletKey } from './key-rows.ts'
import { connectionOf, endpointOf, epochsNow, requireFolder, requireOwned, requireS3 } from './scope.ts'
import { countWorkingKeys, insertKey, keysOfLocker, keysOfWallet } from './store.ts'

const DAY_SECONDS = 86_400
const OF_LOCKER = '/v1/lockers/{locker_id}/s3/keys'
const OF_WALLET = '/v1/s3/keys'

export async function createKey(
  context: Context,
  { locker: { locker_id }, signer }: LockerCaller,
  { name, access, prefix = '', expires_in_days }: Body<typeof endpoint>,
): Promise<NewS3Key> {
  requireS3(context)
  const folder = requireFolder(context, prefix)
  await limitSigner(context, signer)
  const now = unixNow(context)
  const row = await context.continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    requireWritable(locker)
    if ((await countWorkingKeys(tx, locker, now)) >= MAX_S3_KEYS) throw tooMany('locker', OF_LOCKER)
    const { key, epoch } = grantTo(signer.identity, locker)
    const row: S3KeyTable = {
      access_key_id: newKeyId(context.credentialKeys, context.randomBytes),
      locker_id,
      name,
      access,
      prefix: folder,
      minted_by: key,
      minted_epoch: epoch,
      created_at: now,
      expires_at: now + expires_in_days * DAY_SECONDS,
      last_used_at: null,
    }
    await insertKey(tx, row)
    await record({ what: 's3_key_made', locker: locker_id, row })
    return row
  })
  const { access_key_id, expires_at } = row
  context.log.info({ locker_id, access_key_id, access, prefix: folder, expires_at }, 'created an S3 key')
  const secret_access_key = secretOfKey(context.credentialKeys, row)
  return { ...shownKey(row), secret_access_key, ...connectionOf(context, locker_id) }
}

export async function createWalletKey(
  context: Context,
  { signer }: WalletCaller,
  { name, access, expires_in_days }: Body<typeof walletEndpoint>,
): Promise<NewWalletS3Key> {
  requireS3(context)
  await limitSigner(context, signer)
  const wallet = signer.identity
  const now = unixNow(context)
  const row = await context.continuity.changeAccess(async (tx, record) => {
    // The lock serializes the creation of wallet keys.
    await lockOwner(tx, wallet)
    const lockers = await requireOwned(tx, wallet)
    if ((await keysOfWallet(tx, wallet, now)).length >= MAX_S3_KEYS) throw tooMany('wallet', OF_WALLET)
    const row: S3KeyTable = {
      access_key_id: newKeyId(context.credentialKeys, context.randomBytes),
      locker_id: '',
      name,
      access,
      prefix: '',
      minted_by: wallet,
      minted_epoch: 0,
      minted_epochs: JSON.stringify(epochsNow(lockers)),
      created_at: now,
      expires_at: now + expires_in_days * DAY_SECONDS,
      last_used_at: null,
    }
    await insertKey(tx, row)
    await record({ what: 'wallet_s3_key_made', wallet, row })
    return row
  })
  const { access_key_id, expires_at } = row
  context.log.info({ wallet, access_key_id, access, expires_at }, 'created an S3 key of a wallet')
  const secret_access_key = secretOfKey(context.credentialKeys, row)
  return { ...shownWalletKey(row), secret_access_key, ...endpointOf(context) }
}

/** Lists the working keys. */
export async function listKeys(context: Context, locker: Locker): Promise<S3KeyList> {
  const rows = await keysOfLocker(context.database.db, locker.locker_id, unixNow(context))
  const keys = rows.filter((row) => isGranted(locker, lockerScope(row).grant)).map(shownKey)
  return { locker_id: locker.locker_id, keys, count: keys.length }
}

export async function listWalletKeys(context: Context, { signer }: WalletCaller): Promise<WalletS3KeyList> {
  const wallet = signer.identity
  const keys = (await keysOfWallet(context.database.db, wallet, unixNow(context))).map(shownWalletKey)
  return { wallet, keys, count: keys.length }
}

/** Also ends the uploads that the key began (T-36). */
export async function revokeKey({ continuity, log }: Context, { locker_id }: Locker, access_key_id: string) {
  await continuity.changeAccess(async (tx, record) => {
    // Sessions are locked before their locker, as everywhere. A second pass finds the sessions opened before the locker
    // was locked.
    await expireSessionsOfKey(tx, locker_id, access_key_id)
    // A write in progress by this key holds the lock: it finishes before the key ends.
    await lockLocker(tx, locker_id)
    if (!(await deleteS3Key(tx, locker_id, access_key_id))) throw notFound('locker', OF_LOCKER)
    await expireSessionsOfKey(tx, locker_id, access_key_id)
    await record({ what: 's3_key', locker: locker_id, key: access_key_id })
  })
  log.info({ locker_id, access_key_id }, 'revoked an S3 key')
  return { ok: true, locker_id, access_key_id, revoked: true } as const
}

/** Like `revokeKey`, in each locker of the wallet. */
export async function revokeWalletKey({ continuity, log }: Context, { signer }: WalletCaller, access_key_id: string) {
  const wallet = signer.identity
  await continuity.changeAccess(async (tx, record) => {
    if (!(await endWalletKey(tx, wallet, access_key_id))) throw notFound('wallet', OF_WALLET)
    await record({ what: 'wallet_s3_key', wallet, key: access_key_id })
  })
  log.info({ wallet, access_key_id }, 'revoked an S3 key of a wallet')
  return { ok: true, wallet, access_key_id, revoked: true } as const
}

function tooMany(what: 'locker' | 'wallet', path: string): ServiceError {
  return new ServiceError('S3_KEY_LIMIT_EXCEEDED', `a ${what} may have ${MAX_S3_KEYS} S3 keys`, {
    hint: `revoke one first: GET ${path} lists when each was last used`,
    details: { limit: MAX_S3_KEYS },
  })
}

function notFound(what: 'locker' | 'wallet', path: string): ServiceError {
  return new ServiceError('S3_KEY_NOT_FOUND', `the ${what} has no such S3 key`, {
    hint: `GET ${path} lists the existing keys`,
  })
}
