import { isSqlite } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { AuditLogTable, Db, Tx } from '../../db/schema.ts'

/** Any number that no other advisory lock in the same database uses. */
const AUDIT_LOCK = 6_120_448_931

/** Locks until the transaction ends. SQLite needs no lock: it has one writer. */
export async function lockAuditLog(tx: Tx): Promise<void> {
  if (!isSqlite(tx)) await sql`select pg_advisory_xact_lock(${AUDIT_LOCK})`.execute(tx)
}

export async function lastAuditRow(db: Db): Promise<AuditLogTable | null> {
  const last = db.selectFrom('audit_log').selectAll().orderBy('sequence', 'desc').limit(1)
  return (await last.executeTakeFirst()) ?? null
}

export async function insertAuditRow(tx: Tx, row: AuditLogTable): Promise<void> {
  await tx.insertInto('audit_log').values(row).execute()
}

/** The newest first. */
export function pageOfAuditLog(
  db: Db,
  { target, before, limit }: { target: string | null; before: number | null; limit: number },
): Promise<AuditLogTable[]> {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .$if(target !== null, (query) => query.where('target', '=', target))
    .$if(before !== null, (query) => query.where('sequence', '<', before))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

/** In order of their sequence. */
export function rowsAfter(db: Db, sequence: number, limit: number): Promise<AuditLogTable[]> {
  const rows = db.selectFrom('audit_log').selectAll().where('sequence', '>', sequence)
  return rows.orderBy('sequence').limit(limit).execute()
}

/** The newest entry about an action that was done. */
export async function findDone(db: Db, action: string, target: string): Promise<AuditLogTable | null> {
  const done = db
    .selectFrom('audit_log')
    .selectAll()
    .where('target', '=', target)
    .where('action', '=', action)
    .where('outcome', '=', 'done')
  return (await done.orderBy('sequence', 'desc').limit(1).executeTakeFirst()) ?? null
}
