// Shares open one file or one folder of a locker to anyone who has their address.

import { type AccessList, listAccess } from '@svc/api/access'
import { createShare, endShare as endEndpoint, listShares, type Share } from '@svc/api/shares'
import { call } from './calls/call.ts'
import type { Context } from './context.ts'
import { isGatewayError, UntrueAnswer } from './errors.ts'
import type { Locker } from './lockers.ts'

export interface ShareOptions {
  /** 168 by default, which is a week. Null: the share does not expire. */
  hours?: number | null
  /** Not visible to those who open the share. */
  label?: string
  signal?: AbortSignal | undefined
}

/**
 * Shares a file, or a folder with its final `/`. `url` of the result opens it, and reveals neither the receipt nor other
 * files. Files that were encrypted before the upload stay encrypted.
 */
export async function share(
  context: Context,
  { locker_id }: Locker,
  path: string,
  { hours, label, signal }: ShareOptions = {},
): Promise<Share> {
  const body = { path, ...(hours !== undefined && { expires_in_hours: hours }), ...(label !== undefined && { label }) }
  const { body: made } = await call(context, createShare, { params: { locker_id }, body, signal })
  if (made.path !== path) throw new UntrueAnswer(`the share opens ${made.path} instead of ${path}`)
  requireUsable(made)
  return made
}

/** Lists the shares that still open something, oldest first. */
export async function shares(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<Share[]> {
  const { body } = await call(context, listShares, { params: { locker_id }, signal })
  for (const each of body.shares) requireUsable(each)
  return body.shares
}

/** Ends a share immediately. */
export async function endShare(
  context: Context,
  { locker_id }: Locker,
  share_id: string,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await call(context, endEndpoint, { params: { locker_id, share_id }, signal })
  } catch (error) {
    // After a lost answer, the first attempt may have ended it.
    if (!isGatewayError(error, 'SHARE_NOT_FOUND') || error.attempts === 1) throw error
  }
}

/** Everything that opens the locker besides the key of its owner, with the request that ends each. Only for the owner. */
export async function access(context: Context, { locker_id }: Locker, signal?: AbortSignal): Promise<AccessList> {
  const { body } = await call(context, listAccess, { params: { locker_id }, signal })
  if (body.locker_id !== locker_id) throw new UntrueAnswer('the list of access is for another locker')
  return body
}

/** The address is pasted into messages and pages. */
function requireUsable({ id, url }: Share): void {
  const isUsable = /^[A-Za-z0-9_-]{22}$/.test(id) && /^https?:\/\/[^\s"'<>\\]+$/.test(url) && url.endsWith(`/s/${id}`)
  if (!isUsable) throw new UntrueAnswer('the address of the share is malformed')
}
