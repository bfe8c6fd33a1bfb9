// The only way to write. Callers that arrive together share one flush to the disk: on SQLite they run one after another
// in one transaction, each in a savepoint, so that one caller's failure is its own. PostgreSQL runs as many transactions
// as there are connections, and shares their flushes by itself.
//
// Two rules:
// - Nothing but the database is waited for in a commit: everybody else waits meanwhile.
// - Nobody learns of what is not in the journal, not even a reader on another replica.

import { batch } from '@svc/concurrency/sharing'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { DialectName } from './dialects.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

/** What was written and noted is durable when this resolves. */
export type Commit<Schema, Entry = never> = <Result>(
  work: (tx: Transaction<Schema>, note: (...entries: Entry[]) => void) => Promise<Result>,
  options?: CommitOptions,
) => Promise<Result>

export interface CommitOptions {
  /** Commits although the database may be behind: what counts or limits readers, and what heals it. */
  whileBehind?: boolean
}

export interface Guard<Entry> {
  /** Rejects unless the database is known to be current; waits where that is being found out. */
  requireCurrent(): Promise<void>
  /** The same at once. */
  assertCurrent(): void
  /** Durable when it resolves. */
  journal(entries: readonly Entry[]): Promise<void>
  /** The connection broke: the database may have these or not. */
  unclear(entries: readonly Entry[]): void
}

export function createCommit<Schema, Entry = never>(
  db: Kysely<Schema>,
  dialect: DialectName,
  guard: Guard<Entry> | null = null,
): Commit<Schema, Entry> {
  const transact = dialect === 'sqlite' ? inOneFlush(db) : inOneEach(db)
  return async (work, { whileBehind = false } = {}) => {
    if (!whileBehind) await guard?.requireCurrent()
    const noted: Entry[] = []
    const committed = transact((tx) => {
      // In the transaction: its connection may be the first to another server.
      if (!whileBehind) guard?.assertCurrent()
      return work(tx, (...entries) => void noted.push(...entries))
    })
    const result = await committed.catch((error) => {
      if (isDatabaseUnavailable(error)) guard?.unclear(noted)
      throw error
    })
    if (noted.length > 0) await guard?.journal(noted)
    return result
  }
}

type Work<Schema, Result> = (tx: Transaction<Schema>) => Promise<Result>
type Transact<Schema> = <Result>(work: Work<Schema, Result>) => Promise<Result>

function inOneEach<Schema>(db: Kysely<Schema>): Transact<Schema> {
  return (work) => db.transaction().execute(work)
}

function inOneFlush<Schema>(db: Kysely<Schema>): Transact<Schema> {
  const flush = batch((works: Work<Schema, unknown>[]) =>
    db.transaction().execute(async (tx) => {
      const outcomes: PromiseSettledResult<unknown>[] = []
      for (const work of works) outcomes.push(await inSavepoint(tx, work))
      return outcomes
    }),
  )
  return async <Result>(work: Work<Schema, Result>) => {
    const outcome = await flush(work)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value as Result
  }
}

async function inSavepoint<Schema>(
  tx: Transaction<Schema>,
  work: Work<Schema, unknown>,
): Promise<PromiseSettledResult<unknown>> {
  await sql`savepoint caller`.execute(tx)
  try {
    const value = await work(tx)
    await sql`release caller`.execute(tx)
    return { status: 'fulfilled', value }
  } catch (reason) {
    // After some errors SQLite has given up the whole transaction, and this fails for everybody.
    await sql`rollback to caller`.execute(tx)
    await sql`release caller`.execute(tx)
    return { status: 'rejected', reason }
  }
}
