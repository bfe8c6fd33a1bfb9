// Queries for runs, and for delegations with a due run.

import type { Insertable, Selectable } from 'kysely'
import type { Db, DelegationRow, RunTable, Tx } from '../../db/schema.ts'

export type RunRow = Selectable<RunTable>
export type Task = RunRow['task']

/** Newest first. */
export async function recentRuns(db: Db, delegationId: string, limit: number): Promise<RunRow[]> {
  return runsOf(db, delegationId).limit(limit).execute()
}

/** The finished runs of a task, newest first. */
export async function finishedRuns(db: Db, delegationId: string, task: Task, limit: number): Promise<RunRow[]> {
  return runsOf(db, delegationId).where('task', '=', task).where('finished_at', 'is not', null).limit(limit).execute()
}

function runsOf(db: Db, delegationId: string) {
  const runs = db.selectFrom('runs').selectAll().where('delegation_id', '=', delegationId)
  return runs.orderBy('started_at', 'desc').orderBy('run_id')
}

export async function findRun(db: Db, runId: string): Promise<RunRow | null> {
  return (await db.selectFrom('runs').selectAll().where('run_id', '=', runId).executeTakeFirst()) ?? null
}

export async function findUnfinishedRun(db: Db, delegationId: string, task: Task): Promise<RunRow | null> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('delegation_id', '=', delegationId)
    .where('task', '=', task)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** The progress of a run. */
type Progress = Pick<RunRow, 'summary' | 'found'>

/** Null when the run is finished. */
export async function findProgress(db: Db, runId: string): Promise<Progress | null> {
  const run = db.selectFrom('runs').select(['summary', 'found']).where('run_id', '=', runId)
  return (await run.where('finished_at', 'is', null).executeTakeFirst()) ?? null
}

export async function insertRun(tx: Tx, run: Insertable<RunTable>): Promise<void> {
  await tx.insertInto('runs').values(run).execute()
}

export async function setProgress(tx: Tx, runId: string, progress: Progress): Promise<void> {
  await tx.updateTable('runs').set(progress).where('run_id', '=', runId).execute()
}

export async function setFinished(
  tx: Tx,
  { run_id, ...end }: Pick<RunRow, 'run_id' | 'finished_at' | 'outcome' | 'summary'>,
): Promise<void> {
  await tx.updateTable('runs').set(end).where('run_id', '=', run_id).execute()
}

/** Deletes finished runs except the newest ones. */
export async function deleteOldRuns(tx: Tx, delegationId: string, task: Task, remaining: number): Promise<void> {
  const last = await runsOf(tx, delegationId)
    .where('task', '=', task)
    .offset(remaining - 1)
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  await tx
    .deleteFrom('runs')
    .where('delegation_id', '=', delegationId)
    .where('task', '=', task)
    .where('started_at', '<', last.started_at)
    .where('finished_at', 'is not', null)
    .execute()
}

export interface SubscribedDelegation extends DelegationRow {
  /** When the subscription of the owner ends. */
  expires_at: number
}

/** The owner of a delegation; null when the delegation does not exist. */
export async function findSubscriber(db: Db, delegationId: string): Promise<string | null> {
  const row = db.selectFrom('delegations').select('identity').where('delegation_id', '=', delegationId)
  return (await row.executeTakeFirst())?.identity ?? null
}

/** A delegation with the end of its subscription. */
export function findSubscribed(db: Db, delegationId: string): Promise<SubscribedDelegation> {
  return withSubscription(db, delegationId).executeTakeFirstOrThrow()
}

/** Like `findSubscribed`, locked until the end of the transaction. */
export function lockSubscribed(tx: Tx, delegationId: string): Promise<SubscribedDelegation> {
  return withSubscription(tx, delegationId).forUpdate('delegations').executeTakeFirstOrThrow()
}

function withSubscription(db: Db, delegationId: string) {
  return db
    .selectFrom('delegations')
    .innerJoin('subscriptions', 'subscriptions.identity', 'delegations.identity')
    .selectAll('delegations')
    .select('subscriptions.expires_at')
    .where('delegation_id', '=', delegationId)
}

export async function setNextRun(tx: Tx, delegationId: string, task: Task, at: number): Promise<void> {
  const next = task === 'mirror' ? { mirror_at: at } : { watch_at: at }
  await tx.updateTable('delegations').set(next).where('delegation_id', '=', delegationId).execute()
}

const MAX_DUE = 1000

/** A time is due when it is at or before `now`, or so far ahead that a wrong clock must have set it. */
interface Due {
  now: number
  farAhead: number
}

/** Subscribed delegations with a due check of their key. */
export async function findDueChecks(db: Db, { now, farAhead }: Due): Promise<string[]> {
  const rows = await subscribed(db, now)
    .where('state', '=', 'pending')
    .where(({ or, eb }) => or([eb('check_at', '<=', now), eb('check_at', '>', farAhead)]))
    .orderBy('check_at')
    .limit(MAX_DUE)
    .execute()
  return rows.map(({ delegation_id }) => delegation_id)
}

/** Subscribed delegations whose task is due and not running. A run that began outside `current` has lost its job. */
export async function findDue(
  db: Db,
  task: Task,
  { now, farAhead }: Due,
  current: { from: number; to: number },
): Promise<string[]> {
  const dueAt = task === 'mirror' ? 'mirror_at' : 'watch_at'
  const rows = await subscribed(db, now)
    .where('state', '=', 'active')
    .where(({ or, eb }) => or([eb(dueAt, '<=', now), eb(dueAt, '>', farAhead)]))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs')
            .select('run_id')
            .whereRef('runs.delegation_id', '=', 'delegations.delegation_id')
            .where('task', '=', task)
            .where('finished_at', 'is', null)
            .where('started_at', '>=', current.from)
            .where('started_at', '<=', current.to),
        ),
      ),
    )
    .orderBy(dueAt)
    .limit(MAX_DUE)
    .execute()
  return rows.map(({ delegation_id }) => delegation_id)
}

function subscribed(db: Db, now: number) {
  return db
    .selectFrom('delegations')
    .innerJoin('subscriptions', 'subscriptions.identity', 'delegations.identity')
    .select('delegation_id')
    .where('subscriptions.expires_at', '>', now)
}
