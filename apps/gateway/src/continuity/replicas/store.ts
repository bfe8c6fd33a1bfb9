// Only PostgreSQL gateways write rows of logbooks. Their times come from its clock, which all replicas share.

import { type RawBuilder, sql } from 'kysely'
import type { Db, LogbookTable, Tx } from '../../db/schema.ts'

const CLOCK: RawBuilder<number> = sql`cast(extract(epoch from clock_timestamp()) as bigint)`

export async function upsertLogbook(tx: Tx, logbook: Omit<LogbookTable, 'seen_at'>): Promise<void> {
  await tx
    .insertInto('logbooks')
    .values({ ...logbook, seen_at: CLOCK })
    .onConflict((conflict) =>
      conflict.column('process_id').doUpdateSet({ complete_on: logbook.complete_on, seen_at: CLOCK }),
    )
    .execute()
}

export async function setComplete(tx: Tx, logbookId: string, history: string): Promise<void> {
  await tx
    .updateTable('logbooks')
    .set({ complete_on: history })
    .where('logbook_id', '=', logbookId)
    .where('complete_on', 'is distinct from', history)
    .execute()
}

/** Keeps the row if the journal was last found complete on another history. */
export async function deleteLogbook(tx: Tx, processId: string, history: string): Promise<void> {
  await tx.deleteFrom('logbooks').where('process_id', '=', processId).where('complete_on', '=', history).execute()
}

export interface MissingJournal {
  logbookId: string
  host: string
  /** Unix seconds. */
  seenAt: number
}

/** Journals that were not found complete on this history of the database. */
export async function selectMissingJournals(db: Db, history: string): Promise<MissingJournal[]> {
  const rows = await db
    .selectFrom('logbooks')
    .select(['logbook_id', 'host', (eb) => eb.fn.max<number>('seen_at').as('seen_at')])
    .where('complete_on', 'is distinct from', history)
    .groupBy(['logbook_id', 'host'])
    .orderBy('host')
    .execute()
  return rows.map(toMissingJournal)
}

export async function deleteSilentLogbooks(tx: Tx, silentSeconds: number): Promise<void> {
  await tx.deleteFrom('logbooks').where('seen_at', '<', silentSince(silentSeconds)).execute()
}

/** Journals that were not found complete on this history. */
export async function deleteAbsentLogbooks(tx: Tx, history: string, silentSeconds: number): Promise<MissingJournal[]> {
  const rows = await tx
    .deleteFrom('logbooks')
    .where('complete_on', 'is distinct from', history)
    .where('seen_at', '<', silentSince(silentSeconds))
    .returning(['logbook_id', 'host', 'seen_at'])
    .execute()
  return rows.map(toMissingJournal)
}

function silentSince(seconds: number): RawBuilder<number> {
  return sql`${CLOCK} - ${sql.lit(seconds)}`
}

function toMissingJournal({
  logbook_id,
  host,
  seen_at,
}: Omit<LogbookTable, 'process_id' | 'complete_on'>): MissingJournal {
  return { logbookId: logbook_id, host, seenAt: seen_at }
}
