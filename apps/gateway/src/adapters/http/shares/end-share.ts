import { ServiceError } from '@svc/service/service-error'
import type { Context } from '../../../context.ts'
import type { Locker } from '../../../db/schema.ts'
import { lockLocker } from '../../../lockers/store.ts'
import { deleteShare } from './store.ts'

export async function endShare({ continuity, log, shareIds }: Context, { locker_id }: Locker, share_id: string) {
  const seed = shareIds.seedOf(share_id)
  if (seed === null) throw notFound()
  await continuity.changeAccess(async (tx, record) => {
    await lockLocker(tx, locker_id)
    if (!(await deleteShare(tx, locker_id, seed))) throw notFound()
    await record({ what: 'share', locker: locker_id, seed })
  })
  log.info({ locker_id }, 'ended a share')
  return { ok: true, locker_id, share_id, ended: true } as const
}

function notFound(): ServiceError {
  return new ServiceError('SHARE_NOT_FOUND', 'the locker has no such share', {
    hint: 'GET /v1/lockers/{locker_id}/shares lists the existing shares',
  })
}
