// Which lockers use more than was bought. Reads all lockers: an index would slow down every write to a locker.

import type { Terms } from '@svc/api/purchases'
import { jsonInteger } from '@svc/database/prepared'
import { type RawBuilder, sql } from 'kysely'
import type { Db, Locker } from '../../db/schema.ts'
import { type LockerTotals, USAGE } from '../../lockers/terms.ts'

export interface LockerOver extends Pick<Locker, 'locker_id' | 'owner' | 'provider'>, LockerTotals {
  egress_bytes: number
  /** Of bytes, files or egress, whichever share is highest; rounded up. */
  used_percent: number
}

interface OverQuery {
  /** ISO 8601. */
  now: string
  /** The last entry of the previous page. */
  after: { percent: number; lockerId: string } | null
  limit: number
}

/** Ordered by excess, the largest first; lockers that have only ended come last. */
export function pageOverTerms(db: Db, { now, after, limit }: OverQuery): Promise<LockerOver[]> {
  const most = sql<number>`case
    when bytes_percent >= files_percent and bytes_percent >= egress_percent then bytes_percent
    when files_percent >= egress_percent then files_percent
    else egress_percent end`
  const shares = db
    .selectFrom(usedShares(db).as('share'))
    .select(['locker_id', 'owner', 'provider', 'egress_bytes', ...USAGE])
    .select(most.as('used_percent'))
  return db
    .selectFrom(shares.as('locker'))
    .selectAll()
    .where(({ eb, or }) => or([eb('used_percent', '>', 100), isEndedWithFiles(now)]))
    .$if(after !== null, (query) =>
      query.where(({ eb, or, and }) =>
        or([
          eb('used_percent', '<', after!.percent),
          and([eb('used_percent', '=', after!.percent), eb('locker_id', '>', after!.lockerId)]),
        ]),
      ),
    )
    .orderBy('used_percent', 'desc')
    .orderBy('locker_id')
    .limit(limit)
    .execute()
}

interface OverCounts {
  bytes: number
  files: number
  egress: number
  /** Ended lockers that still have files. */
  time: number
}

export function countOverTerms(db: Db, now: string): Promise<OverCounts> {
  const countOf = (condition: RawBuilder<boolean>) => sql<number>`count(case when ${condition} then 1 end)`
  return db
    .selectFrom(usedShares(db).as('share'))
    .select([
      countOf(sql`bytes_percent > 100`).as('bytes'),
      countOf(sql`files_percent > 100`).as('files'),
      countOf(sql`egress_percent > 100`).as('egress'),
      countOf(isEndedWithFiles(now)).as('time'),
    ])
    .executeTakeFirstOrThrow()
}

function isEndedWithFiles(now: string): RawBuilder<boolean> {
  return sql<boolean>`(expires_at <= ${now} and file_count > 0)`
}

function usedShares(db: Db) {
  return db
    .selectFrom('lockers')
    .leftJoin('locker_egress', 'locker_egress.locker_id', 'lockers.locker_id')
    .select(['lockers.locker_id', 'owner', 'provider', ...USAGE])
    .select([
      EGRESS.as('egress_bytes'),
      percentOf(db, sql`(total_bytes + unconfirmed_bytes)`, 'storage_limit_bytes').as('bytes_percent'),
      percentOf(db, sql`file_count`, 'file_limit').as('files_percent'),
      percentOf(db, EGRESS, 'egress_included_bytes').as('egress_percent'),
    ])
}

const EGRESS = sql<number>`coalesce(locker_egress.bytes, 0)`

function percentOf(db: Db, used: RawBuilder<number>, term: keyof Terms): RawBuilder<number> {
  const bought = jsonInteger(db, 'lockers.terms', term)
  return sql<number>`coalesce((${used} * 100 + ${bought} - 1) / nullif(${bought}, 0), 0)`
}
