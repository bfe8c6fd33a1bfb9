// What was bought for a locker and how much is used, for callers who may read it and for the gateway's admin.

import type { Query } from '@svc/api/endpoint'
import type { LockerOverTerms, lockersOverTerms } from '@svc/api/internal'
import type { Provider } from '@svc/api/providers'
import type { Quote, Terms } from '@svc/api/purchases'
import type { LockerUsage, PaidPurchase } from '@svc/api/usage'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { findEgressBytes, findPaidQuotes, type PaidQuote } from '../../lockers/store.ts'
import { isEnded, type LockerTotals, termsOf, unitsOf, usedBytes } from '../../lockers/terms.ts'
import { nextAnchor } from './next-anchor.ts'
import { type LockerOver, pageOverTerms } from './over-terms.ts'

const MAX_RENEWALS = 100

export async function readUsage(context: Context, locker: Locker): Promise<LockerUsage> {
  const { database, config } = context
  const { db } = database
  await context.egress.save()
  const egress = await findEgressBytes(db, locker.locker_id)
  const unit = config.payments.terms[locker.provider as Provider] // the provider is from the quote
  const paid = await findPaidQuotes(db, locker, MAX_RENEWALS)
  return {
    locker_id: locker.locker_id,
    expires_at: locker.expires_at,
    ended: isEnded(locker, unixNow(context)),
    enforced: config.lockers.enforcesTerms,
    ...usedAndBought(locker, egress),
    purchases: paid.map(paidPurchase),
    ...(await nextAnchor(context, locker)),
    renewal_units: renewalUnits(locker, paid, unit),
  }
}

function usedAndBought(locker: LockerTotals, egress: number) {
  const { storage_limit_bytes, file_limit, egress_included_bytes } = termsOf(locker)
  return {
    bytes: { used: usedBytes(locker), bought: storage_limit_bytes },
    files: { used: locker.file_count, bought: file_limit },
    egress: { used: egress, bought: egress_included_bytes },
  }
}

/**
 * Enough for the present terms, for the terms at the opening and for the present contents. Anyone can renew an ended
 * locker with a single unit, and the owner's renewal must not use that as its default.
 */
function renewalUnits(locker: Locker, paid: readonly PaidQuote[], unit: Terms): number {
  const opening = paid.find(({ receipt }) => receipt.receipt_id === locker.receipt_id)
  const opened = opening && svcOf(opening)?.terms
  const used = { storage_limit_bytes: usedBytes(locker), file_limit: locker.file_count }
  const sizes = [termsOf(locker), used, ...(opened ? [opened] : [])]
  return Math.max(...sizes.map((size) => unitsOf(size, unit)))
}

/** Seeded and imported quotes may have none of these facts, or only some. */
function svcOf({ quote }: PaidQuote): Partial<Quote['extensions']['svc']> | undefined {
  return quote === null ? undefined : (JSON.parse(quote) as Partial<Quote>).extensions?.svc
}

function paidPurchase(paid: PaidQuote): PaidPurchase {
  const { receipt } = paid
  const { receipt_id, units, paid_amount, pay_asset, network, confirmed_at } = receipt
  return {
    receipt_id,
    kind: receipt.extends === undefined ? 'purchase' : 'renewal',
    units,
    price_usd: svcOf(paid)?.price_summary?.total_usd ?? null,
    paid_amount,
    pay_asset,
    network,
    confirmed_at,
  }
}

const PAGE = 100

/** Reads every locker: for an admin, occasionally. */
export async function listOverTerms(context: Context, { limit = PAGE, cursor }: Query<typeof lockersOverTerms>) {
  const now = unixNow(context)
  const rows = await pageOverTerms(context.database.db, {
    now: isoSeconds(now),
    after: positionIn(cursor),
    limit: limit + 1,
  })
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    lockers: page.map((row) => overTerms(row, now)),
    ...(last && rows.length > limit && { next_cursor: `${last.used_percent}-${last.locker_id}` }),
  }
}

function positionIn(cursor: string | undefined): { percent: number; lockerId: string } | null {
  if (cursor === undefined) return null
  const [percent, lockerId] = cursor.split('-') as [string, string] // has the declared form
  return { percent: Number(percent), lockerId }
}

function overTerms(row: LockerOver, now: number): LockerOverTerms {
  const { locker_id, owner, provider, used_percent, expires_at, egress_bytes } = row
  return {
    locker_id,
    owner,
    provider,
    used_percent,
    ...usedAndBought(row, egress_bytes),
    expires_at,
    ended: isEnded(row, now),
  }
}
