import { type Kysely, sql } from 'kysely'
import type { Reader } from './open.ts'
import { isSqlite } from './prepared.ts'

/**
 * Runs the work unless another process does it under the same number. SQLite serves one process. Where the lock is lost
 * with its connection, two may work at once.
 */
export async function exclusively<Schema>(db: Reader<Schema>, lock: number, work: () => Promise<void>): Promise<void> {
  if (isSqlite(db)) return work()
  // Nothing is written by it: the lock ends with the transaction.
  const locking = (db as Kysely<Schema>).transaction().setAccessMode('read only')
  await locking.execute(async (tx) => {
    const { rows } = await sql<{ got: boolean }>`select pg_try_advisory_xact_lock(${lock}) as got`.execute(tx)
    if (rows[0]?.got) await work()
  })
}
