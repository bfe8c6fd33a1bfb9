// The name of a locker is one of its tags. The other tags never change.

import type { Body } from '@svc/api/endpoint'
import { NAME_TAG } from '@svc/api/locker-names'
import type { renameLocker as endpoint } from '@svc/api/lockers'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { lockLocker, updateLocker } from './store.ts'

export async function renameLocker(
  { continuity }: Pick<Context, 'continuity'>,
  { locker_id }: Locker,
  { name }: Body<typeof endpoint>,
) {
  const tags = await continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    const others = (JSON.parse(locker.tags) as string[]).filter((tag) => !tag.startsWith(NAME_TAG))
    const tags = name === null ? others : [...others, NAME_TAG + name]
    await updateLocker(tx, locker_id, { tags: JSON.stringify(tags) })
    await record({ what: 'tags', locker: locker_id, tags })
    return tags
  })
  return { ok: true, locker_id, tags } as const
}
