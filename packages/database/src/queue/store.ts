import type { Reader } from '../open.ts'
import type { Tx } from './queue.ts'
import type { DeadJobTable, QueueTables, ScheduleTable } from './tables.ts'

type Db = Reader<QueueTables>

export async function insertDeadJob(tx: Tx, dead: DeadJobTable): Promise<void> {
  await tx.insertInto('dead_jobs').values(dead).execute()
}

export interface DeadPage {
  kind?: string | null
  /** The last job of the previous page. */
  after?: { failedAt: string; id: string } | null
  limit: number
}

export async function newestDeadJobs(db: Db, { kind = null, after = null, limit }: DeadPage): Promise<DeadJobTable[]> {
  return db
    .selectFrom('dead_jobs')
    .selectAll()
    .$if(kind !== null, (query) => query.where('kind', '=', kind))
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) => eb(refTuple('failed_at', 'id'), '<', tuple(after!.failedAt, after!.id))),
    )
    .orderBy('failed_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}

export async function findDeadJob(db: Db, id: string): Promise<DeadJobTable | null> {
  return (await db.selectFrom('dead_jobs').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/** Only one of several callers gets the row. */
export async function removeDeadJob(tx: Tx, id: string): Promise<DeadJobTable | null> {
  return (await tx.deleteFrom('dead_jobs').where('id', '=', id).returningAll().executeTakeFirst()) ?? null
}

/** `before` is ISO 8601. */
export async function deleteDeadJobs(tx: Tx, before: string): Promise<void> {
  await tx.deleteFrom('dead_jobs').where('failed_at', '<', before).execute()
}

export async function countDeadJobs(db: Db): Promise<{ kind: string; count: number }[]> {
  const counts = db.selectFrom('dead_jobs').select(['kind', (eb) => eb.fn.countAll<number>().as('count')])
  return counts.groupBy('kind').execute()
}

export async function insertSchedules(tx: Tx, schedules: readonly ScheduleTable[]): Promise<void> {
  await tx
    .insertInto('schedules')
    .values(schedules)
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute()
}

export async function findSchedules(db: Db, names: readonly string[]): Promise<ScheduleTable[]> {
  return db.selectFrom('schedules').selectAll().where('name', 'in', names).execute()
}

/** False when another process advanced it first. */
export async function moveSchedule(tx: Tx, { name, next_at }: ScheduleTable, to: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('schedules')
    .set({ next_at: to })
    .where('name', '=', name)
    .where('next_at', '=', next_at)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}
