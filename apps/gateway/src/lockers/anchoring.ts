// Whether the statements of a locker are published one by one, or by the anchored checkpoints of the log.

import type { Body } from '@svc/api/endpoint'
import type { changeAnchoring as endpoint } from '@svc/api/lockers'
import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { updateLocker } from './store.ts'

export async function changeAnchoring(
  { continuity }: Pick<Context, 'continuity'>,
  { locker_id }: Locker,
  { anchoring }: Body<typeof endpoint>,
) {
  await continuity.changeAccess(async (tx, record) => {
    await updateLocker(tx, locker_id, { anchoring })
    await record({ what: 'anchoring', locker: locker_id, anchoring })
  })
  return { ok: true, locker_id, anchoring } as const
}
