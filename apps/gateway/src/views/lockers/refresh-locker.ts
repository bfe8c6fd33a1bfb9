import type { Body } from '@svc/api/endpoint'
import type { RefreshedLocker, refresh } from '@svc/api/lockers'
import type { LockerCaller } from '../../auth/callers.ts'
import type { Context } from '../../context.ts'
import { firstUrls } from '../../files/lists/download-urls.ts'
import { lockerRecord, requireSameLocker } from '../../lockers/locker-record.ts'

/** The body must name the same locker as the envelope (LOCK-10). */
export async function refreshLocker(
  context: Context,
  caller: LockerCaller,
  { ttl_min, ...named }: Body<typeof refresh>,
): Promise<RefreshedLocker> {
  requireSameLocker(caller.locker, named)
  return {
    ...lockerRecord(caller.locker),
    ...(ttl_min !== undefined && (await firstUrls(context, caller, ttl_min))),
  }
}
