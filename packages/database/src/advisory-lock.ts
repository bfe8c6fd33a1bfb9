import { type Kysely, sql } from 'kysely'
import type { Reader } from './open.ts'
import { isSqlite } from './prepared.ts'

/**
 * Runs the work unless another process holds the lock with this number. SQLite serves one process. If a connection is
 * lost, its lock is lost too, and two processes may run the work at once.
 */
export async function withAdvisoryLock<Schema>(
  db: Reader<Schema>,
  lock: number,
  work: () => Promise<void>,
): Promise<void> {
  if (isSqlite(db)) return work()
  // Read only, because the transaction only holds the lock.
  const locking = (db as Kysely<Schema>).transaction().setAccessMode('read only')
  await locking.execute(async (tx) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_xact_lock(${lock}) as got`.execute(tx)
    if (rows[0]?.got) await work()
  })
}
