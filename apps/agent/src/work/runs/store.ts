// What is kept of work: runs and the log. What is told of it is in told-store.ts, what was seen in seen-store.ts.

import type { SignedFinding } from '@svc/protocol/finding'
import type { Insertable, Selectable } from 'kysely'
import type { Db, DelegationRow, RunTable } from '../../db/schema.ts'

export type RunRow = Selectable<RunTable>
export type Task = RunRow['task']

/** The newest first. */
export async function recentRuns(db: Db, delegationId: string, limit: number): Promise<RunRow[]> {
  return runsOf(db, delegationId).limit(limit).execute()
}

/** Those of a task that are over, the newest first. */
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

export async function findRunUnderWay(db: Db, delegationId: string, task: Task): Promise<RunRow | null> {
  const row = await db
    .selectFrom('runs')
    .selectAll()
    .where('delegation_id', '=', delegationId)
    .where('task', '=', task)
    .where('finished_at', 'is', null)
    .executeTakeFirst()
  return row ?? null
}

/** How far a run has come. */
type Progress = Pick<RunRow, 'summary' | 'found'>

/** Of a run under way; null where it is over. */
export async function findProgress(db: Db, runId: string): Promise<Progress | null> {
  const run = db.selectFrom('runs').select(['summary', 'found']).where('run_id', '=', runId)
  return (await run.where('finished_at', 'is', null).executeTakeFirst()) ?? null
}

export async function insertRun(db: Db, run: Insertable<RunTable>): Promise<void> {
  await db.insertInto('runs').values(run).execute()
}

export async function setProgress(db: Db, runId: string, progress: Progress): Promise<void> {
  await db.updateTable('runs').set(progress).where('run_id', '=', runId).execute()
}

export async function endRun(
  db: Db,
  { run_id, ...end }: Pick<RunRow, 'run_id' | 'finished_at' | 'outcome' | 'summary'>,
): Promise<void> {
  await db.updateTable('runs').set(end).where('run_id', '=', run_id).execute()
}

/** Forgets those that are over and have so many newer ones. */
export async function forgetRuns(db: Db, delegationId: string, task: Task, kept: number): Promise<void> {
  const last = await runsOf(db, delegationId)
    .where('task', '=', task)
    .offset(kept - 1)
    .limit(1)
    .executeTakeFirst()
  if (!last) return
  await db
    .deleteFrom('runs')
    .where('delegation_id', '=', delegationId)
    .where('task', '=', task)
    .where('started_at', '<', last.started_at)
    .where('finished_at', 'is not', null)
    .execute()
}

export interface Workplace extends DelegationRow {
  /** Of the subscription. */
  expires_at: number
}

/** A delegation and what decides whether it is worked on; kept from others until the end of the transaction. */
export async function lockWorkplace(db: Db, delegationId: string): Promise<Workplace> {
  return db
    .selectFrom('delegations')
    .innerJoin('subscriptions', 'subscriptions.identity', 'delegations.identity')
    .selectAll('delegations')
    .select('subscriptions.expires_at')
    .where('delegation_id', '=', delegationId)
    .forUpdate('delegations')
    .executeTakeFirstOrThrow()
}

export async function setNextRun(db: Db, delegationId: string, task: Task, at: number): Promise<void> {
  const next = task === 'mirror' ? { mirror_at: at } : { watch_at: at }
  await db.updateTable('delegations').set(next).where('delegation_id', '=', delegationId).execute()
}

export async function setLogEnd(
  db: Db,
  { delegation_id, ...end }: Pick<DelegationRow, 'delegation_id' | 'finding_count' | 'alert_count' | 'last_digest'>,
): Promise<void> {
  await db.updateTable('delegations').set(end).where('delegation_id', '=', delegation_id).execute()
}

const DUE_AT_ONCE = 1000

/** From when on what was put off is due: by now, or so far ahead that a clock was wrong when it was put there. */
interface Due {
  now: number
  farAhead: number
}

/** Whose key is to be looked for, and whose subscription runs. */
export async function findUnchecked(db: Db, { now, farAhead }: Due): Promise<string[]> {
  const rows = await paidFor(db, now)
    .where('state', '=', 'pending')
    .where(({ or, eb }) => or([eb('check_at', '<=', now), eb('check_at', '>', farAhead)]))
    .orderBy('check_at')
    .limit(DUE_AT_ONCE)
    .execute()
  return rows.map(({ delegation_id }) => delegation_id)
}

/** Whose task is due and not under way; a run that did not begin within `current` has lost its job, and counts for none. */
export async function findDue(
  db: Db,
  task: Task,
  { now, farAhead }: Due,
  current: { from: number; to: number },
): Promise<string[]> {
  const dueAt = task === 'mirror' ? 'mirror_at' : 'watch_at'
  const rows = await paidFor(db, now)
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
    .limit(DUE_AT_ONCE)
    .execute()
  return rows.map(({ delegation_id }) => delegation_id)
}

function paidFor(db: Db, now: number) {
  return db
    .selectFrom('delegations')
    .innerJoin('subscriptions', 'subscriptions.identity', 'delegations.identity')
    .select('delegation_id')
    .where('subscriptions.expires_at', '>', now)
}

/** The oldest first. */
export async function findingsAfter(
  db: Db,
  delegationId: string,
  after: number,
  limit: number,
): Promise<SignedFinding[]> {
  const rows = await db
    .selectFrom('findings')
    .select('finding')
    .where('delegation_id', '=', delegationId)
    .where('sequence', '>', after)
    .orderBy('sequence')
    .limit(limit)
    .execute()
  return rows.map(({ finding }) => JSON.parse(finding))
}

export async function insertFindings(db: Db, findings: readonly SignedFinding[]): Promise<void> {
  const rows = findings.map((finding) => {
    const { delegation_id, sequence, severity } = finding
    return { delegation_id, sequence, severity, finding: JSON.stringify(finding) }
  })
  await db.insertInto('findings').values(rows).execute()
}
