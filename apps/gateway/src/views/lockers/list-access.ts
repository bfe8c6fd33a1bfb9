// Everything that opens a locker besides the key of its owner, and the request that ends each.

import type { AccessEntry, AccessList } from '@svc/api/access'
import { operatorName } from '@svc/api/locker-names'
import { isoSeconds } from '@svc/protocol/evidence'
import { liveShares, shownShare, timeOrNull } from '../../adapters/http/shares/list-shares.ts'
import { keysOfLocker, keysOfWallet } from '../../adapters/s3/credentials/store.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, S3KeyTable } from '../../db/schema.ts'
import { openSessionsOf, type SessionRow } from '../../files/parts/store.ts'
import { grantOf, isGranted } from '../../lockers/access.ts'
import { publicLinkOf } from '../../lockers/public-link.ts'

/** Thousands may be open, each for a day at most. */
const MAX_SESSIONS = 1000

export async function listAccess(context: Context, locker: Locker): Promise<AccessList> {
  const { db } = context.database
  const { locker_id, owner } = locker
  const now = unixNow(context)
  const [shares, keys, walletKeys, sessions] = await Promise.all([
    liveShares(context, locker),
    keysOfLocker(db, locker_id, now),
    keysOfWallet(db, owner, now),
    openSessionsOf(db, locker_id, now, MAX_SESSIONS + 1),
  ])
  const base = `/v1/lockers/${locker_id}`
  const tags: string[] = JSON.parse(locker.tags)
  const access: AccessEntry[] = [
    linkEntry(base, locker),
    ...(JSON.parse(locker.operators) as string[]).map((key) => operatorEntry(base, key, operatorName(tags, key))),
    ...shares.map((share): AccessEntry => {
      const { url: _, kind: _kind, ...shown } = shownShare(context, share)
      const end = { method: 'DELETE', path: `${base}/shares/${shown.id}` } as const
      return { ...shown, kind: 'share', status: 'open', permissions: ['read'], end }
    }),
    ...keys.filter((key) => isGranted(locker, grantOf(key))).map((key) => keyEntry(`${base}/s3/keys/`, key)),
    ...walletKeys
      .filter((key) => isGranted(locker, { key: owner, epoch: epochOf(key, locker_id) }))
      .map((key) => keyEntry('/v1/s3/keys/', key, `?${new URLSearchParams({ wallet: owner })}`)),
    ...sessions
      .slice(0, MAX_SESSIONS)
      .filter((session) => isGranted(locker, grantOf(session)))
      .map((session) => sessionEntry(base, session)),
  ]
  return {
    locker_id,
    access,
    count: access.length,
    ...(sessions.length > MAX_SESSIONS && { truncated: true }),
    end_all: revocation(base),
  }
}

const UNKNOWN = {
  label: null,
  status: 'open',
  path: null,
  created_at: null,
  created_by: null,
  expires_at: null,
  last_used_at: null,
} as const

function revocation(base: string) {
  return { method: 'POST', path: `${base}/revoke` } as const
}

function linkEntry(base: string, locker: Locker): AccessEntry {
  const { status, id } = publicLinkOf(locker)
  const close = { method: 'POST', path: `${base}/public-link`, body: { action: 'close' } } as const
  return {
    ...UNKNOWN,
    kind: 'public_link',
    id,
    status,
    permissions: status === 'open' ? ['read'] : [],
    end: status === 'open' ? close : null,
  }
}

function operatorEntry(base: string, id: string, label: string | null): AccessEntry {
  const end = { method: 'DELETE', path: `${base}/operators/${id}` } as const
  return { ...UNKNOWN, kind: 'operator', id, label, permissions: ['read', 'write', 'list'], end }
}

function keyEntry(path: string, key: S3KeyTable, query = ''): AccessEntry {
  const { access_key_id: id, name, access, prefix, minted_by, created_at, expires_at, last_used_at } = key
  return {
    kind: 's3_key',
    id,
    label: name,
    status: 'open',
    permissions: access === 'write' ? ['read', 'write', 'list'] : ['read', 'list'],
    path: prefix === '' ? null : prefix,
    created_at: isoSeconds(created_at),
    created_by: minted_by,
    expires_at: isoSeconds(expires_at),
    last_used_at: timeOrNull(last_used_at),
    end: { method: 'DELETE', path: path + id + query },
  }
}

/** The epoch of the locker when a key for all lockers of a wallet was created. */
function epochOf({ minted_epochs }: S3KeyTable, lockerId: string): number {
  const epochs: Record<string, number> = JSON.parse(minted_epochs ?? '{}')
  return Object.hasOwn(epochs, lockerId) ? (epochs[lockerId] as number) : 0
}

const PROTOCOLS = { s3: 'S3 multipart upload', tus: 'tus upload' } as const

/** A single session ends with its upload or expires; only the owner's revocation ends it early. */
function sessionEntry(base: string, session: SessionRow): AccessEntry {
  const { session_id, door, minted_by, opened_at, expires_at } = session
  return {
    ...UNKNOWN,
    kind: 'upload_session',
    id: session_id,
    label: door === null ? null : PROTOCOLS[door],
    permissions: ['write'],
    created_at: timeOrNull(opened_at),
    created_by: minted_by,
    expires_at: isoSeconds(expires_at),
    end: revocation(base),
  }
}
