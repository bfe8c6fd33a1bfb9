// A locker that the database has lost and that is opened again. What was revoked of it stays revoked (T-161).

import { isoSeconds } from '@svc/protocol/evidence'
import type { NotedRevocation } from '../continuity/entries.ts'
import { isLostReceipt, revocationsOf } from '../continuity/store.ts'
import type { Db } from '../db/schema.ts'
import { NEW_ACCESS } from './access.ts'

/** Of a new locker, as long as its receipt was never lost. */
export async function firstAccess(db: Db, receiptId: string, lockerId: string) {
  if (!(await isLostReceipt(db, receiptId))) return NEW_ACCESS
  return (await revocationsOf(db, lockerId)).reduce(withRevoked, NEW_ACCESS)
}

type Access = Omit<typeof NEW_ACCESS, 'restriction' | 'restricted_at' | 'restriction_notice'> & {
  restriction: 'frozen' | 'taken_down' | null
  restricted_at: string | null
  restriction_notice: string | null
}

/** Keys of S3 are gone with the locker, and so are its operators: their URLs end with the epoch. */
function withRevoked(access: Access, { revoked, revokedAt }: NotedRevocation): Access {
  if (revoked.what === 'link') return { ...access, link_closed: 1 }
  if (revoked.what === 'restriction') {
    const { restriction, notice } = revoked
    return { ...access, restriction, restricted_at: restriction && isoSeconds(revokedAt), restriction_notice: notice }
  }
  if (revoked.what !== 'urls' && revoked.what !== 'operator') return access
  const epoch = Math.max(access.access_epoch, revoked.epoch)
  return { ...access, access_epoch: epoch, ...(revoked.what === 'urls' && { revoked_before: epoch }) }
}
