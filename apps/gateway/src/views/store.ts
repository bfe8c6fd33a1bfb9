import type { ExpressionBuilder } from 'kysely'
import type { BudgetDayTable, Db, ObjectTable, PublicationTable, Schema } from '../db/schema.ts'

const RECENT_ANCHORS = 100

/** In lamports, for the newest final anchors. */
export async function recentAnchorCosts(db: Db): Promise<{ fee: number; rent: number }[]> {
  const recent = db.selectFrom('publications').where('state', '=', 'finalized').orderBy('sent_at', 'desc')
  const rows = await recent.select(['fee_lamports', 'rent_lamports']).limit(RECENT_ANCHORS).execute()
  return rows.map(({ fee_lamports, rent_lamports }) => ({ fee: fee_lamports ?? 0, rent: rent_lamports ?? 0 }))
}

interface PublicationCost {
  state: PublicationTable['state']
  fee: number | null
  rent: number | null
}

const ROWS_AT_ONCE = 1000

/** Row by row: SQLite would block the whole process while it sums such wide rows. */
export function streamPublicationCosts(db: Db): AsyncIterable<PublicationCost> {
  return db
    .selectFrom('publications')
    .select(['state', 'fee_lamports as fee', 'rent_lamports as rent'])
    .stream(ROWS_AT_ONCE)
}

/** Quotes that are watched for payments, and when the next check is due. */
export async function watchedQuotes(db: Db): Promise<{ count: number; due_at: number | null }> {
  return db
    .selectFrom('watched_quotes')
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.min<number | null>('due_at').as('due_at')])
    .where('tx', 'is', null)
    .executeTakeFirstOrThrow()
}

export async function countRows(db: Db, table: 'receipts' | 'lockers'): Promise<number> {
  const { count } = await db
    .selectFrom(table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

export function countObjects(db: Db): Promise<{ state: ObjectTable['state']; count: number }[]> {
  return db
    .selectFrom('objects')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .groupBy('state')
    .execute()
}

interface MovingObjects {
  provider: string
  /** Beyond the terms of their lockers, so they are not moved. */
  is_held_back: number
  count: number
  oldest: number
}

/**
 * Objects that still have to move to a slow storage provider. Objects of restricted lockers wait and are not counted as
 * stuck.
 */
export function countMovingObjects(db: Db): Promise<MovingObjects[]> {
  return db
    .selectFrom('settling_objects as s')
    .innerJoin('lockers as l', 'l.locker_id', 's.locker_id')
    .select(({ fn }) => [
      's.provider',
      's.is_held_back',
      fn.countAll<number>().as('count'),
      fn.min<number>('s.since').as('oldest'),
    ])
    .where('l.restriction', 'is', null)
    .groupBy(['s.provider', 's.is_held_back'])
    .execute()
}

export function budgetsOfDay(db: Db, day: number): Promise<BudgetDayTable[]> {
  return db.selectFrom('budget_days').selectAll().where('day', '=', day).execute()
}

/** Receipts whose newest statement waits for a budget, and receipts whose publication failed and is due again. */
export function countUnpublished(db: Db): Promise<{ deferred: number; failed: number }> {
  const count = ({ selectFrom, fn }: ExpressionBuilder<Schema, never>) =>
    selectFrom('attestations').select(fn.countAll<number>().as('count'))
  return db
    .selectNoFrom((eb) => [
      count(eb).where('deferral', 'is not', null).as('deferred'),
      count(eb).where('push_at', 'is not', null).where('anchor_error', 'is not', null).as('failed'),
    ])
    .$narrowType<{ deferred: number; failed: number }>()
    .executeTakeFirstOrThrow()
}

export async function countDeferredEntries(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('registry_entries')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '!=', 'done')
    .where('deferred_until', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Why the publication that is due first failed, as JSON. */
export async function nextAnchorError(db: Db): Promise<string | null> {
  const due = db.selectFrom('attestations').where('push_at', 'is not', null).where('anchor_error', 'is not', null)
  return (await due.select('anchor_error').orderBy('push_at').limit(1).executeTakeFirst())?.anchor_error ?? null
}

/** The newest transaction that published a statement. */
export async function lastPublication(db: Db): Promise<{ tx: string; sent_at: number } | null> {
  const newest = (state: PublicationTable['state']) =>
    db
      .selectFrom('publications')
      .select(['tx', 'sent_at'])
      .where('state', '=', state)
      .orderBy('sent_at', 'desc')
      .limit(1)
      .executeTakeFirst()
  const [landed, finalized] = [await newest('landed'), await newest('finalized')]
  if (!landed || !finalized) return landed ?? finalized ?? null
  return landed.sent_at > finalized.sent_at ? landed : finalized
}

/** The newest statement of each receipt, row by row: SQLite would block the process while it joins them all. */
export function streamProvenFiles(db: Db): AsyncIterable<{ file_count: number }> {
  return db
    .selectFrom('attestations as a')
    .innerJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'a.receipt_id').onRef('s.sequence', '=', 'a.sequence'),
    )
    .innerJoin('snapshots as n', 'n.snapshot_key', 's.snapshot_key')
    .select('n.file_count')
    .stream(ROWS_AT_ONCE)
}
