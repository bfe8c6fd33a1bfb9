import type { Tasks } from '@svc/api/agent/tasks'
import { sql } from 'kysely'
import type { Db, DelegationRow, Tx } from '../db/schema.ts'

export async function insertDelegation(tx: Tx, delegation: DelegationRow): Promise<void> {
  await tx.insertInto('delegations').values(delegation).execute()
}

export async function findDelegation(db: Db, delegationId: string): Promise<DelegationRow | null> {
  const found = db.selectFrom('delegations').selectAll().where('delegation_id', '=', delegationId)
  return (await found.executeTakeFirst()) ?? null
}

/** Locked until the end of the transaction. */
export async function lockDelegation(db: Db, delegationId: string): Promise<DelegationRow | null> {
  const found = db.selectFrom('delegations').selectAll().where('delegation_id', '=', delegationId)
  return (await found.forUpdate().executeTakeFirst()) ?? null
}

/** The open delegation of a receipt, locked until the end of the transaction. */
export async function lockOpenDelegation(db: Db, receiptId: string): Promise<DelegationRow | null> {
  const open = db
    .selectFrom('delegations')
    .selectAll()
    .where('receipt_id', '=', receiptId)
    .where('ended_at', 'is', null)
  return (await open.forUpdate().executeTakeFirst()) ?? null
}

export async function countOpenDelegations(db: Db, identity: string): Promise<number> {
  const { count } = await db
    .selectFrom('delegations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('identity', '=', identity)
    .where('ended_at', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

/** Open ones first, then newest first. */
export async function delegationsOf(db: Db, identity: string, limit: number): Promise<DelegationRow[]> {
  return db
    .selectFrom('delegations')
    .selectAll()
    .where('identity', '=', identity)
    .orderBy(sql`ended_at is null`, 'desc')
    .orderBy('created_at', 'desc')
    .orderBy('delegation_id')
    .limit(limit)
    .execute()
}

/** When the tasks are next due. */
export type DueTimes = Pick<DelegationRow, 'mirror_at' | 'watch_at'>

export async function setTasks(tx: Tx, delegationId: string, tasks: Tasks, due: DueTimes): Promise<void> {
  await tx
    .updateTable('delegations')
    .set({ tasks: JSON.stringify(tasks), ...due })
    .where('delegation_id', '=', delegationId)
    .execute()
}

/** For a delegation whose key is not registered yet. */
export async function setNextCheck(
  tx: Tx,
  delegationId: string,
  next: Pick<DelegationRow, 'check_at' | 'checks'>,
): Promise<void> {
  await tx.updateTable('delegations').set(next).where('delegation_id', '=', delegationId).execute()
}

export async function setRegistered(tx: Tx, delegationId: string, at: number, due: DueTimes): Promise<void> {
  await tx
    .updateTable('delegations')
    .set({ state: 'active', registered_at: at, check_at: null, checks: 0, ...due })
    .where('delegation_id', '=', delegationId)
    .execute()
}

/** Closes a delegation permanently. Does nothing to one that has already ended. */
export async function closeDelegation(
  tx: Tx,
  delegationId: string,
  { state, at }: { state: 'revoked' | 'ended'; at: number },
): Promise<void> {
  await tx
    .updateTable('delegations')
    .set({ state, ended_at: at, check_at: null, mirror_at: null, watch_at: null })
    .where('delegation_id', '=', delegationId)
    .where('ended_at', 'is', null)
    .execute()
}

/**
 * Deletes up to `limit` delegations that ended before that time and whose key was never registered; returns how many.
 */
export async function deleteNeverRegistered(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx
    .selectFrom('delegations')
    .select('delegation_id')
    .where('registered_at', 'is', null)
    .where('ended_at', '<', before)
    .limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('delegations').where('delegation_id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Ended delegations that still have stored files, statements or mirrors. */
export async function findEndedWithLeftovers(db: Db, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom('delegations')
    .select('delegation_id')
    .where('ended_at', 'is not', null)
    .where(({ or, exists, selectFrom }) => {
      const isIn = (table: 'seen_files' | 'seen_statements' | 'mirrors') =>
        exists(
          selectFrom(table)
            .select(`${table}.delegation_id`)
            .whereRef(`${table}.delegation_id`, '=', 'delegations.delegation_id'),
        )
      return or([isIn('seen_files'), isIn('seen_statements'), isIn('mirrors')])
    })
    .limit(limit)
    .execute()
  return rows.map(({ delegation_id }) => delegation_id)
}

export async function countCreatedSince(db: Db, identity: string, since: number): Promise<number> {
  const { count } = await db
    .selectFrom('delegations')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('identity', '=', identity)
    .where('created_at', '>', since)
    .executeTakeFirstOrThrow()
  return count
}

export interface LastRun {
  task: 'mirror' | 'watch'
  started_at: number
}

/** When each task was last started at the locker of a receipt, by any of its delegations. */
export async function lastStarts(db: Db, receiptId: string): Promise<LastRun[]> {
  return db
    .selectFrom('runs')
    .innerJoin('delegations', 'delegations.delegation_id', 'runs.delegation_id')
    .select(({ fn }) => ['task', fn.max('started_at').as('started_at')])
    .where('receipt_id', '=', receiptId)
    .groupBy('task')
    .execute()
}
