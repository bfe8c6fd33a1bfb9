import type { Locker } from '../db/schema.ts'
import type { LockersContext } from './room.ts'
import { lockLocker, updateLocker } from './store.ts'

/** Ends all URLs and upload sessions, also those of the owner. */
export async function revokeAccess({ continuity, adoptArrived }: LockersContext, locker: Locker) {
  const { locker_id } = locker
  await adoptArrived(locker, null)
  await continuity.changeAccess(async (tx, record) => {
    const epoch = (await lockLocker(tx, locker_id)).access_epoch + 1
    await record({ what: 'urls', locker: locker_id, epoch })
    await updateLocker(tx, locker_id, { access_epoch: epoch, revoked_before: epoch })
  })
  return { ok: true, locker_id, revoked: true } as const
}
