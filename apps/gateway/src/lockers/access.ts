// What ends URLs, shares and upload sessions early (T-36). Each contains the key that requested it and the access epoch of its
// locker at that time. It is valid while that key has belonged to the owner or an operator without interruption, and
// the owner has not revoked everything. A key that is added again starts in a later epoch.

import type { Locker, Tx } from '../db/schema.ts'
import { hasS3Key } from './store.ts'

/** The access of a new locker: the owner alone, and the public link by the receipt id. */
export const NEW_ACCESS = {
  operators: '[]',
  operator_epochs: '{}',
  access_epoch: 0,
  revoked_before: 0,
  link_handle: null,
  link_closed: 0,
  restriction: null,
  restricted_at: null,
  restriction_notice: null,
}

/**
 * Null for URLs and sessions of releases up to 1.0.0, which do not name their key. `s3Key` is the id of a long-lived S3
 * key, which can also be revoked separately.
 */
export type Grant = { key: string; epoch: number; s3Key?: string } | null

/** The columns of a locker that decide who has access. */
export const ACCESS = [
  'owner',
  'operators',
  'operator_epochs',
  'access_epoch',
  'revoked_before',
  'restriction',
] as const

export type LockerAccess = Pick<Locker, (typeof ACCESS)[number]>

/** The columns of a grant. */
export interface MintedRow {
  minted_by: string | null
  minted_epoch: number | null
}

export function grantOf({ minted_by, minted_epoch }: MintedRow): Grant {
  return minted_by === null || minted_epoch === null ? null : { key: minted_by, epoch: minted_epoch }
}

export function mintedRow(grant: Grant): MintedRow {
  return { minted_by: grant?.key ?? null, minted_epoch: grant?.epoch ?? null }
}

/** The grant that the caller of a signed request may mint now. */
export function grantTo(key: string, { access_epoch }: LockerAccess): NonNullable<Grant> {
  return { key, epoch: access_epoch }
}

export function isGranted(access: LockerAccess, grant: Grant): boolean {
  // The removed operator may have requested it.
  if (grant === null) return access.access_epoch === 0
  return grant.epoch >= access.revoked_before && grant.epoch >= epochOf(access, grant.key)
}

/** The keys that may act on a locker. */
export function keysOf({ owner, operators }: LockerAccess): string[] {
  return [owner, ...(JSON.parse(operators) as string[])]
}

/** The epoch since which the key has had uninterrupted access; infinite for a key without access. */
function epochOf(access: LockerAccess, key: string): number {
  if (key === access.owner) return 0
  if (!keysOf(access).includes(key)) return Number.POSITIVE_INFINITY
  return epochsOf(access)[key] ?? 0
}

export function epochsOf({ operator_epochs }: Pick<Locker, 'operator_epochs'>): Record<string, number> {
  return JSON.parse(operator_epochs)
}

/**
 * Call it in the transaction that makes a change. The result is exact if the transaction holds the lock of the locker.
 */
export async function requireGranted(tx: Tx, access: LockerAccess, grant: Grant): Promise<void> {
  if (!(await isStillGranted(tx, access, grant))) throw new AccessEnded()
}

export async function isStillGranted(tx: Tx, access: LockerAccess, grant: Grant): Promise<boolean> {
  return isGranted(access, grant) && (grant?.s3Key === undefined || (await hasS3Key(tx, grant.s3Key)))
}

/** Thrown when bytes would change a locker, and the access for that has ended since the request began. */
export class AccessEnded extends Error {
  override name = 'AccessEnded'
}
