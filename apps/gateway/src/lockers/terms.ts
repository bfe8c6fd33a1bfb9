// The purchased terms of a locker, their usage, and the effect of a renewal.

import type { Quote, Terms } from '@svc/api/purchases'
import { isoSeconds, unixSeconds } from '@svc/protocol/evidence'
import type { Locker, PayRequestTable } from '../db/schema.ts'

/** The columns of a locker that determine its remaining quota. */
export const USAGE = ['terms', 'expires_at', 'file_count', 'total_bytes', 'unconfirmed_bytes'] as const

export type LockerTotals = Pick<Locker, (typeof USAGE)[number]>

export function termsOf({ terms }: Pick<Locker, 'terms'>): Terms {
  return JSON.parse(terms)
}

/** The terms that a paid quote sold. */
export function quotedTerms({ quote }: Pick<PayRequestTable, 'quote'>): Terms {
  const { terms } = (JSON.parse(quote) as Quote).extensions.svc
  const { storage_limit_bytes, file_limit, egress_included_bytes, ttl_days, settled_limit_bytes, storage } = terms
  return {
    storage_limit_bytes,
    file_limit,
    egress_included_bytes,
    ttl_days,
    ...(settled_limit_bytes !== undefined && { settled_limit_bytes }),
    ...(storage && { storage }),
  }
}

export function usedBytes({ total_bytes, unconfirmed_bytes }: LockerTotals): number {
  return total_bytes + unconfirmed_bytes
}

export function isEnded({ expires_at }: Pick<Locker, 'expires_at'>, now: number): boolean {
  return (unixSeconds(expires_at) ?? 0) <= now
}

/** 9999-12-31T23:59:59Z: years on the wire have four digits. */
const LAST_SECOND = 253_402_300_799

export function endOf(from: number, seconds: number): string {
  return isoSeconds(Math.min(from + Math.floor(seconds), LAST_SECOND))
}

/**
 * A locker after a purchase that extends it. The remaining and the purchased amounts are added, in bytes times seconds
 * and in files times seconds, and used at the larger of both sizes. A purchase of the same size therefore begins when
 * the previous one ends, a larger one enlarges the locker immediately, and no order of purchases is cheaper than
 * another. An active locker never becomes smaller and never ends earlier, no matter who pays. An ended locker starts
 * anew with the purchased size. Egress is an amount, not a size: it is added.
 */
export function extended(
  locker: Pick<Locker, 'terms' | 'expires_at'>,
  bought: Terms,
  now: number,
): { terms: Terms; expires_at: string } {
  const current = termsOf(locker)
  const left = Math.max(0, (unixSeconds(locker.expires_at) ?? 0) - now)
  const merge = (old: number, added: number) =>
    merged({ size: old, seconds: left }, { size: added, seconds: bought.ttl_days * 86_400 })
  const bytes = merge(current.storage_limit_bytes, bought.storage_limit_bytes)
  const files = merge(current.file_limit, bought.file_limit)
  const terms = {
    ...current,
    storage_limit_bytes: bytes.size,
    file_limit: files.size,
    egress_included_bytes: current.egress_included_bytes + bought.egress_included_bytes,
    ...(bought.settled_limit_bytes !== undefined && {
      settled_limit_bytes: (current.settled_limit_bytes ?? current.storage_limit_bytes) + bought.settled_limit_bytes,
    }),
  }
  return { terms, expires_at: endOf(now, Math.min(bytes.seconds, files.seconds)) }
}

/** A quota for a period. */
interface Quota {
  size: number
  seconds: number
}

/**
 * At the larger size, unless the locker would then end earlier: in that case its size is increased for the remaining
 * time.
 */
function merged(left: Quota, bought: Quota): Quota {
  if (left.seconds === 0) return bought
  const size = Math.max(left.size, bought.size)
  const seconds = (left.size / size) * left.seconds + (bought.size / size) * bought.seconds
  if (seconds >= left.seconds) return { size, seconds }
  return { size: Math.floor(left.size + bought.size * (bought.seconds / left.seconds)), seconds: left.seconds }
}

type Size = Pick<Terms, 'storage_limit_bytes' | 'file_limit'>

/** The number of units with at least this size. */
export function unitsOf({ storage_limit_bytes, file_limit }: Size, unit: Size): number {
  const units = Math.max(storage_limit_bytes / unit.storage_limit_bytes, file_limit / unit.file_limit)
  return Math.min(Math.max(1, Math.ceil(units)), 1_000_000)
}
