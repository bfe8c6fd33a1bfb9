import type { Share, ShareList } from '@svc/api/shares'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../../context.ts'
import type { Locker, ShareTable } from '../../../db/schema.ts'
import { isFolder, isLive } from './find-share.ts'
import { sharesOfLocker } from './store.ts'

export async function listShares(context: Context, locker: Locker): Promise<ShareList> {
  const shares = (await liveShares(context, locker)).map((share) => shownShare(context, share))
  return { locker_id: locker.locker_id, shares, count: shares.length }
}

/** Oldest first. */
export async function liveShares(context: Context, locker: Locker): Promise<ShareTable[]> {
  const now = unixNow(context)
  return (await sharesOfLocker(context.database.db, locker.locker_id)).filter((share) => isLive(share, locker, now))
}

/** The share as shown to callers who may read the locker. */
export function shownShare({ shareIds, config }: Pick<Context, 'shareIds' | 'config'>, share: ShareTable): Share {
  const { seed, path, label, minted_by, created_at, expires_at, last_used_at } = share
  const id = shareIds.idOf(seed)
  return {
    id,
    url: `${config.http.baseUrl}/s/${id}`,
    path,
    kind: isFolder(share) ? 'folder' : 'file',
    label,
    created_at: isoSeconds(created_at),
    created_by: minted_by,
    expires_at: timeOrNull(expires_at),
    last_used_at: timeOrNull(last_used_at),
  }
}

export function timeOrNull(seconds: number | null): string | null {
  return seconds === null ? null : isoSeconds(seconds)
}
