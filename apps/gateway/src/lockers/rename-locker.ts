// The names of a locker and of its operators are among its tags. The other tags never change.

import type { Body } from '@svc/api/endpoint'
import { NAME_TAG, operatorTag } from '@svc/api/locker-names'
import type { renameLocker as endpoint } from '@svc/api/lockers'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { notRegistered, operatorsOf } from './operators.ts'
import { lockLocker, updateLocker } from './store.ts'

export async function renameLocker(
  { continuity }: Pick<Context, 'continuity'>,
  { locker_id }: Locker,
  { name, operator }: Body<typeof endpoint>,
) {
  const tags = await continuity.changeAccess(async (tx, record) => {
    const locker = await lockLocker(tx, locker_id)
    if (operator !== undefined && !operatorsOf(locker).includes(operator)) throw notRegistered()
    const start = operator === undefined ? NAME_TAG : operatorTag(operator)
    const others = (JSON.parse(locker.tags) as string[]).filter((tag) => !tag.startsWith(start))
    const tags = name === null ? others : [...others, start + name]
    await updateLocker(tx, locker_id, { tags: JSON.stringify(tags) })
    await record({ what: 'tags', locker: locker_id, tags, ...(operator !== undefined && { operator }) })
    return tags
  })
  return { ok: true, locker_id, tags } as const
}
