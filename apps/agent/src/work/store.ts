// What is kept of work: runs, the log, and what is told of it. What was seen at lockers is in seen-store.ts.

import type { SignedFinding } from '@svc/protocol/finding'
import type { Insertable, Selectable } from 'kysely'
import type { Db, DelegationRow, DeliveryTable, RunTable } from '../db/schema.ts'

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

/** Of a run under way; null where it is over. */
export async function findSummary(db: Db, runId: string): Promise<string | null> {
  const run = db.selectFrom('runs').select('summary').where('run_id', '=', runId).where('finished_at', 'is', null)
  return (await run.executeTakeFirst())?.summary ?? null
}

export async function insertRun(db: Db, run: RunRow): Promise<void> {
  await db.insertInto('runs').values(run).execute()
}

export async function setSummary(db: Db, runId: string, summary: string): Promise<void> {
  await db.updateTable('runs').set({ summary }).where('run_id', '=', runId).execute()
}

/** False when it was over before. */
export async function endRun(
  db: Db,
  { run_id, ...end }: Pick<RunRow, 'run_id' | 'finished_at' | 'outcome' | 'summary'>,
): Promise<boolean> {
  const update = db.updateTable('runs').set(end).where('run_id', '=', run_id).where('finished_at', 'is', null)
  return (await update.executeTakeFirst()).numUpdatedRows === 1n
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

/** Whose key is to be looked for, and whose subscription runs. */
export async function findUnchecked(db: Db, now: number): Promise<string[]> {
  const rows = await paidFor(db, now).where('state', '=', 'pending').where('check_at', '<=', now).orderBy('check_at')
  return (await rows.limit(DUE_AT_ONCE).execute()).map(({ delegation_id }) => delegation_id)
}

/** Whose task is due and not under way; a run that began before `lostBefore` has lost its job, and counts for none. */
export async function findDue(db: Db, task: Task, now: number, lostBefore: number): Promise<string[]> {
  const dueAt = task === 'mirror' ? 'mirror_at' : 'watch_at'
  const rows = await paidFor(db, now)
    .where('state', '=', 'active')
    .where(dueAt, '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('runs')
            .select('run_id')
            .whereRef('runs.delegation_id', '=', 'delegations.delegation_id')
            .where('task', '=', task)
            .where('finished_at', 'is', null)
            .where('started_at', '>=', lostBefore),
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

export async function insertDeliveries(db: Db, deliveries: readonly Insertable<DeliveryTable>[]): Promise<void> {
  await db.insertInto('deliveries').values(deliveries).execute()
}

export interface Delivery extends Selectable<DeliveryTable> {
  /** The signed finding, JSON. */
  finding: string
  state: DelegationRow['state']
  /** Of the delegation as it is now, JSON. */
  tasks: string
}

export async function findDelivery(db: Db, deliveryId: string): Promise<Delivery> {
  return db
    .selectFrom('deliveries')
    .innerJoin('delegations', 'delegations.delegation_id', 'deliveries.delegation_id')
    .innerJoin('findings', (join) =>
      join
        .onRef('findings.delegation_id', '=', 'deliveries.delegation_id')
        .onRef('findings.sequence', '=', 'deliveries.sequence'),
    )
    .selectAll('deliveries')
    .select(['findings.finding', 'delegations.state', 'delegations.tasks'])
    .where('delivery_id', '=', deliveryId)
    .executeTakeFirstOrThrow()
}

export async function setDelivery(
  db: Db,
  { delivery_id, ...outcome }: Pick<Delivery, 'delivery_id' | 'delivered_at' | 'error'>,
): Promise<void> {
  await db.updateTable('deliveries').set(outcome).where('delivery_id', '=', delivery_id).execute()
}

/** What became of the findings that were to be told; null where none were. */
export async function summarizeDeliveries(db: Db, delegationId: string) {
  const own = db.selectFrom('deliveries').where('delegation_id', '=', delegationId)
  const { delivered, all } = await own
    .select(({ fn }) => [fn.count<number>('delivered_at').as('delivered'), fn.countAll<number>().as('all')])
    .executeTakeFirstOrThrow()
  if (all === 0) return null
  const failed = own.select('error').where('delivered_at', 'is', null).where('error', 'is not', null)
  const last = await failed.orderBy('sequence', 'desc').limit(1).executeTakeFirst()
  return { delivered, undelivered: all - delivered, last_error: last?.error ?? null }
}
