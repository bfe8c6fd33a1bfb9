// Searches lockers by any identifier that an admin may have.

import type { Query } from '@svc/api/endpoint'
import type { AdminLocker, AdminLockerDetails, findLockers as endpoint } from '@svc/api/operations'
import { fromBase64Url, fromUtf8, toBase64Url, utf8 } from '@svc/protocol/bytes'
import { canonicalTx } from '@svc/protocol/ids'
import { ValidationError } from '@svc/service/service-error'
import { lockerNotFound } from '../../auth/errors.ts'
import { restrictionOf } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { publicLinkOf } from '../../lockers/public-link.ts'
import { findEgressBytes, findLocker } from '../../lockers/store.ts'
import { isEnded, termsOf, usedBytes } from '../../lockers/terms.ts'
import { auditEntry } from './audit.ts'
import { pageOfAuditLog } from './audit-store.ts'
import { type LockerSearch, searchLockers } from './store.ts'

const PAGE = 100

export async function findLockers(context: Context, { q, limit = PAGE, cursor }: Query<typeof endpoint>) {
  const after = cursor === undefined ? null : positionIn(cursor)
  const found = await searchLockers(context.database.db, { ...searchFor(q?.trim()), after, limit: limit + 1 })
  const page = found.slice(0, limit)
  const last = found.length > limit ? page.at(-1) : undefined
  return {
    lockers: page.map((locker) => adminLocker(context, locker)),
    ...(last && { next_cursor: toBase64Url(utf8(`${last.created_at} ${last.locker_id}`)) }),
  }
}

function searchFor(text: string | undefined): Pick<LockerSearch, 'by' | 'text'> {
  if (text === undefined) return { by: 'all', text: '' }
  if (text.startsWith('locker_')) return { by: 'locker', text }
  if (text.startsWith('rcpt_')) return { by: 'receipt', text }
  if (/^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,88})$/i.test(text))
    return { by: 'transaction', text: canonicalTx(text) }
  return { by: 'wallet', text: /^0x/i.test(text) ? text.toLowerCase() : text }
}

function positionIn(cursor: string): { createdAt: string; lockerId: string } {
  const bytes = fromBase64Url(cursor)
  const [, createdAt, lockerId] = /^([0-9TZ:.-]+) (locker_[0-9a-f]{12})$/.exec((bytes && fromUtf8(bytes)) ?? '') ?? []
  if (createdAt !== undefined && lockerId !== undefined) return { createdAt, lockerId }
  throw new ValidationError({ loc: ['query', 'cursor'], msg: 'must be an unchanged next_cursor' })
}

export function adminLocker(context: Pick<Context, 'now'>, locker: Locker): AdminLocker {
  const { locker_id, receipt_id, owner, network, provider, file_count, created_at, expires_at } = locker
  return {
    locker_id,
    receipt_id,
    owner,
    operators: JSON.parse(locker.operators),
    network,
    provider,
    file_count,
    total_bytes: usedBytes(locker),
    created_at,
    expires_at,
    ended: isEnded(locker, unixNow(context)),
    restriction: restrictionOf(locker),
  }
}

const AUDIT_ENTRIES = 100

export async function readLocker(context: Context, lockerId: string): Promise<AdminLockerDetails> {
  const { db } = context.database
  const locker = await findLocker(db, lockerId)
  if (!locker) throw lockerNotFound()
  const { storage_limit_bytes, file_limit, egress_included_bytes } = termsOf(locker)
  await context.egress.save()
  const audit = await pageOfAuditLog(db, { target: lockerId, before: null, limit: AUDIT_ENTRIES })
  return {
    ...adminLocker(context, locker),
    bytes: { used: usedBytes(locker), bought: storage_limit_bytes },
    files: { used: locker.file_count, bought: file_limit },
    egress: { used: await findEgressBytes(db, lockerId), bought: egress_included_bytes },
    public_link: publicLinkOf(locker).status,
    audit: audit.map(auditEntry),
  }
}
