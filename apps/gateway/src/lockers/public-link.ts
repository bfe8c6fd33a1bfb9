// The public link of a locker: its receipt id or, once the owner has rotated the link, a random handle. To others, a
// closed or rotated link looks like one that never existed (T-49).

import type { Body } from '@svc/api/endpoint'
import type { changePublicLink as endpoint, PublicLink } from '@svc/api/lockers'
import { toHex } from '@svc/protocol/bytes'
import { requireWritable } from '../auth/restrictions.ts'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { lockLocker, updateLocker } from './store.ts'

const PREFIX = 'link_'

type LinkedLocker = Pick<Locker, 'receipt_id' | 'link_handle' | 'link_closed'>

export function publicLinkOf({ receipt_id, link_handle, link_closed }: LinkedLocker): PublicLink {
  return link_closed ? { status: 'closed', id: null } : { status: 'open', id: link_handle ?? receipt_id }
}

/** Receipt ids have another prefix. */
export function isLinkHandle(id: string): boolean {
  return id.startsWith(PREFIX)
}

export async function changePublicLink(
  { continuity, randomBytes }: Context,
  { locker_id }: Locker,
  { action }: Body<typeof endpoint>,
) {
  const public_link = await continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    if (action !== 'close') requireWritable(locker)
    const changes = {
      link_closed: action === 'close' ? 1 : 0,
      ...(action === 'rotate' && { link_handle: PREFIX + toHex(randomBytes(16)) }),
    }
    const changed = { ...locker, ...changes }
    const { link_closed, link_handle } = changed
    await updateLocker(tx, locker_id, changes)
    await record({ what: 'link', locker: locker_id, status: { link_closed, link_handle }, action })
    return publicLinkOf(changed)
  })
  return { ok: true, locker_id, public_link } as const
}
