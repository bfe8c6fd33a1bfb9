import type { Body } from '@svc/api/endpoint'
import type { restrictLocker as endpoint } from '@svc/api/operations'
import { isoSeconds } from '@svc/protocol/evidence'
import { lockerNotFound } from '../../auth/errors.ts'
import { type Context, unixNow } from '../../context.ts'
import { adoptArrived } from '../../files/direct-uploads.ts'
import { continueSessions } from '../../files/parts/close-session.ts'
import { findLocker, lockLocker, updateLocker } from '../../lockers/store.ts'
import type { Actor } from './actors.ts'
import { type AuditAction, appendAudit } from './audit.ts'
import { adminLocker } from './find-lockers.ts'

type Order = Body<typeof endpoint>

const ACTIONS: Record<Order['restriction'], AuditAction> = {
  none: 'unfreeze_locker',
  frozen: 'freeze_locker',
  taken_down: 'take_down_locker',
}

/**
 * Repeating the current restriction changes nothing. Uploads that have already arrived at a provider are adopted first
 * (T-50).
 */
export async function restrictLocker(context: Context, actor: Actor, lockerId: string, order: Order) {
  const { restriction, reason, notice = null } = order
  const found = await findLocker(context.database.db, lockerId)
  if (!found) throw lockerNotFound()
  if (found.restriction === null && restriction !== 'none') await adoptArrived(context, found, null)
  return context.continuity.changeAccess(async (tx, record) => {
    const before = await lockLocker(tx, lockerId)
    const state = restriction === 'none' ? null : restriction
    const shown = state === null ? null : notice
    if (before.restriction === state && before.restriction_notice === shown) {
      return { ok: true, changed: false, locker: adminLocker(context, before) } as const
    }
    const now = unixNow(context)
    const since = before.restriction === state ? before.restricted_at : isoSeconds(now)
    const changes = {
      restriction: state,
      restricted_at: state === null ? null : since,
      restriction_notice: shown,
    }
    await updateLocker(tx, lockerId, changes)
    await record({ what: 'restriction', locker: lockerId, restriction: state, notice: shown })
    if (before.restricted_at !== null && before.restriction !== state)
      await continueSessions(context, tx, lockerId, now - Date.parse(before.restricted_at) / 1000)
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: ACTIONS[restriction],
      target: lockerId,
      reason,
      details: { before: before.restriction ?? 'none', after: restriction, ...(shown !== null && { notice: shown }) },
    })
    return { ok: true, changed: true, locker: adminLocker(context, { ...before, ...changes }) } as const
  })
}
