// What ends URLs and upload sessions before their time (T-36). Each carries the key that asked for it and the access
// epoch of its locker at that moment. It is good while the key is the owner's or an operator's and was so ever since,
// and while the owner has not revoked everything. A key that is added again starts in a later epoch.

import type { Locker, Tx } from '../db/schema.ts'
import { hasS3Key } from './store.ts'

/** Of a new locker: the owner alone, and the public link by the receipt id. */
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
 * Null for URLs and sessions of releases up to 1.0.0, which do not say who asked for them. `s3Key` is the id of a
 * long-lived key of S3, which may also be revoked by itself.
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

/** As rows keep it. */
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

/** What a caller who signed a request may mint now. */
export function grantTo(key: string, { access_epoch }: LockerAccess): NonNullable<Grant> {
  return { key, epoch: access_epoch }
}

export function isGranted(access: LockerAccess, grant: Grant): boolean {
  // The removed operator may have asked for it.
  if (grant === null) return access.access_epoch === 0
  return grant.epoch >= access.revoked_before && grant.epoch >= epochOf(access, grant.key)
}

/** The keys that may act on a locker. */
export function keysOf({ owner, operators }: LockerAccess): string[] {
  return [owner, ...(JSON.parse(operators) as string[])]
}

/** Since when the key may act without interruption; infinite for a key that may not. */
function epochOf(access: LockerAccess, key: string): number {
  if (key === access.owner) return 0
  if (!keysOf(access).includes(key)) return Number.POSITIVE_INFINITY
  return epochsOf(access)[key] ?? 0
}

export function epochsOf({ operator_epochs }: Pick<Locker, 'operator_epochs'>): Record<string, number> {
  return JSON.parse(operator_epochs)
}

/** Call it in the transaction that changes something. To be exact, the transaction holds the lock of the locker. */
export async function requireGranted(tx: Tx, access: LockerAccess, grant: Grant): Promise<void> {
  if (!(await isStillGranted(tx, access, grant))) throw new AccessEnded()
}

export async function isStillGranted(tx: Tx, access: LockerAccess, grant: Grant): Promise<boolean> {
  return isGranted(access, grant) && (grant?.s3Key === undefined || (await hasS3Key(tx, grant.s3Key)))
}

/** Thrown where bytes would change a locker, and what allowed that has ended since the request began. */
export class AccessEnded extends Error {
  override name = 'AccessEnded'
}
