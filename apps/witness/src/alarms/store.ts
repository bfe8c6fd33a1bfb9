// All SQL of alarms.

import type { AlarmKind } from '@svc/api/witness'
import type { AlarmRow, Db } from '../db/schema.ts'

/** Of one kind and one log: the first ones are kept. */
const MAX_ALARMS = 1000

export interface NewAlarm {
  origin: string
  kind: AlarmKind
  /** Tells causes of one kind apart. */
  cause: string
  message: string
  /** Texts with their signatures. */
  evidence: readonly string[]
}

/** False for a cause that is known, and for a log that has raised too many. */
export async function insertAlarm(db: Db, alarm: NewAlarm, raisedAt: number): Promise<boolean> {
  const { origin, kind } = alarm
  const { count } = await db
    .selectFrom('alarms')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('origin', '=', origin)
    .where('kind', '=', kind)
    .executeTakeFirstOrThrow()
  if (count >= MAX_ALARMS) return false
  const inserted = await db
    .insertInto('alarms')
    .values({ ...alarm, evidence: JSON.stringify(alarm.evidence), raised_at: raisedAt, resolved_at: null })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return inserted !== undefined
}

export async function resolveAlarm(
  db: Db,
  { origin, kind, cause }: Pick<NewAlarm, 'origin' | 'kind' | 'cause'>,
  resolvedAt: number,
): Promise<void> {
  await db
    .updateTable('alarms')
    .set({ resolved_at: resolvedAt })
    .where('origin', '=', origin)
    .where('kind', '=', kind)
    .where('cause', '=', cause)
    .where('resolved_at', 'is', null)
    .execute()
}

/** Newest first. */
export function findAlarms(db: Db, limit: number, before?: number): Promise<AlarmRow[]> {
  let query = db.selectFrom('alarms').selectAll().orderBy('id', 'desc').limit(limit)
  if (before !== undefined) query = query.where('id', '<', before)
  return query.execute()
}

export async function countOpenAlarms(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('alarms')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('resolved_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}
