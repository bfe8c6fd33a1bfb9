import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { adoptArrived } from '../../files/direct-uploads.ts'
import { lockLocker, updateLocker } from '../../lockers/store.ts'

/** Ends all URLs, shares and upload sessions, including the owner's. */
export async function revokeAccess(context: Context, locker: Locker) {
  const { locker_id } = locker
  await adoptArrived(context, locker, null)
  await context.continuity.changeAccess(async (tx, record) => {
    const epoch = (await lockLocker(tx, locker_id)).access_epoch + 1
    await record({ what: 'urls', locker: locker_id, epoch })
    await updateLocker(tx, locker_id, { access_epoch: epoch, revoked_before: epoch })
  })
  return { ok: true, locker_id, revoked: true } as const
}
