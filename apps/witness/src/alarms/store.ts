// Queries for alarms.

import type { AlarmKind } from '@svc/api/witness'
import type { AlarmRow, Db, Tx } from '../db/schema.ts'

/** Per kind and log. */
const MAX_ALARMS = 1000

export interface NewAlarm {
  origin: string
  kind: AlarmKind
  /** Distinguishes causes of one kind. */
  cause: string
  message: string
  /** Texts with their signatures. */
  evidence: readonly string[]
}

/** The id of the alarm; null for a cause that is already open. A resolved alarm is reopened. */
export async function insertAlarm(tx: Tx, alarm: NewAlarm, raisedAt: number): Promise<number | null> {
  const { message } = alarm
  const raised = { message, evidence: JSON.stringify(alarm.evidence), raised_at: raisedAt, resolved_at: null }
  const inserted = await tx
    .insertInto('alarms')
    .values({ ...alarm, ...raised })
    .onConflict((conflict) =>
      conflict
        .columns(['origin', 'kind', 'cause'])
        .doUpdateSet({ ...raised, reported_at: null })
        .where('alarms.resolved_at', 'is not', null),
    )
    .returning('id')
    .executeTakeFirst()
  return inserted?.id ?? null
}

type OfKind = Pick<NewAlarm, 'origin' | 'kind'>

/**
 * Deletes the excess after the alarm `id` was added: the oldest resolved alarms. If all are open, the first ones stay;
 * the newest fork replaces the previous one, and any other new alarm is dropped. Returns false then.
 */
export async function trimAlarms(tx: Tx, { origin, kind }: OfKind, id: number): Promise<boolean> {
  const ofKind = tx.selectFrom('alarms').where('origin', '=', origin).where('kind', '=', kind)
  const { count } = await ofKind.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  if (count <= MAX_ALARMS) return true
  const resolved = ofKind.select('id').where('resolved_at', 'is not', null).orderBy('id')
  const deleted = await tx
    .deleteFrom('alarms')
    .where('id', 'in', resolved.limit(count - MAX_ALARMS))
    .executeTakeFirst()
  if (Number(deleted.numDeletedRows) === count - MAX_ALARMS) return true
  const previous = ofKind.select('id').where('id', '<', id).orderBy('id', 'desc').limit(1)
  const surplus = kind === 'fork' ? (await previous.executeTakeFirstOrThrow()).id : id
  await tx.deleteFrom('alarms').where('id', '=', surplus).execute()
  return false
}

export async function resolveAlarm(
  tx: Tx,
  { origin, kind, cause }: Pick<NewAlarm, 'origin' | 'kind' | 'cause'>,
  resolvedAt: number,
): Promise<void> {
  await tx
    .updateTable('alarms')
    .set({ resolved_at: resolvedAt })
    .where('origin', '=', origin)
    .where('kind', '=', kind)
    .where('cause', '=', cause)
    .where('resolved_at', 'is', null)
    .execute()
}

/** Which of these causes have raised an alarm, resolved or not. */
export async function findCauses(db: Db, { origin, kind }: OfKind, causes: readonly string[]): Promise<string[]> {
  const rows = await db
    .selectFrom('alarms')
    .select('cause')
    .where('origin', '=', origin)
    .where('kind', '=', kind)
    .where('cause', 'in', causes)
    .execute()
  return rows.map(({ cause }) => cause)
}

/** The oldest alarms that the webhook has not accepted. */
export function findUnreported(db: Db, limit: number): Promise<AlarmRow[]> {
  return db.selectFrom('alarms').selectAll().where('reported_at', 'is', null).orderBy('id').limit(limit).execute()
}

export async function recordReported(tx: Tx, id: number, reportedAt: number): Promise<void> {
  await tx.updateTable('alarms').set({ reported_at: reportedAt }).where('id', '=', id).execute()
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
