// The only way to write. Callers that arrive together share one flush to the disk: on SQLite they run one after another
// in one transaction, each in a savepoint, so that a failure affects its own caller only. PostgreSQL runs as many
// transactions as there are connections, and shares their flushes by itself.
//
// Two rules:
// - A commit waits for nothing but the database, because every other caller waits for the commit.
// - Nothing is visible before it is in the journal, not even to a reader on another replica. After a crash or a lost
//   answer the journal therefore catches up from the database before any of it is served: the transaction records the
//   names of its documents, and a reader writes a document to the journal before it serves it.

import { batch } from '@svc/concurrency/sharing'
import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { DialectName } from './dialects.ts'
import { isDatabaseUnavailable } from './unavailable.ts'

/** Rows and journal entries are durable when this resolves. */
export type Commit<Schema, Entry = never> = <Result>(
  work: (tx: Transaction<Schema>, recordEntries: (...entries: Entry[]) => void) => Promise<Result>,
  options?: CommitOptions,
) => Promise<Result>

export interface CommitOptions {
  /**
   * Commits although the database may be behind: for work that counts or limits readers, or that repairs the database.
   */
  whileBehind?: boolean
  /** The work is one statement, which is a transaction by itself. */
  isOneStatement?: boolean
}

export interface Guard<Schema, Entry> {
  /** Rejects unless the database is known to be current; waits while that is being determined. */
  requireCurrent(): Promise<void>
  /** Like `requireCurrent`, without waiting. */
  assertCurrent(): void
  /** Runs in the transaction, before the work: from then on another server may answer. */
  begin(): Recorder<Schema, Entry>
}

/**
 * Runs in the transaction, after the work, and records its entries, so that a commit can be found after a crash or a
 * lost answer. Returns the function to call after the commit; it resolves when the entries are in the journal.
 */
export type Recorder<Schema, Entry> = (
  tx: Transaction<Schema>,
  entries: readonly Entry[],
) => Promise<() => Promise<void>>

export function createCommit<Schema, Entry = never>(
  db: Kysely<Schema>,
  dialect: DialectName,
  guard: Guard<Schema, Entry> | null = null,
): Commit<Schema, Entry> {
  const transact = dialect === 'sqlite' ? sharedTransaction(db) : ownTransaction(db)
  return async (work, { whileBehind = false, isOneStatement = false } = {}) => {
    if (!whileBehind) await guard?.requireCurrent()
    const newEntries: Entry[] = []
    let journal: (() => Promise<void>) | undefined
    const result = await transact(async (tx) => {
      // In the transaction: its connection may be the first to another server.
      if (!whileBehind) guard?.assertCurrent()
      const record = guard?.begin()
      const done = await work(tx, (...entries) => void newEntries.push(...entries))
      if (newEntries.length > 0) journal = await record?.(tx, newEntries)
      return done
    }, isOneStatement)
    await journal?.()
    return result
  }
}

/**
 * Groups writes that many callers make at once: those that arrive together share the work. On PostgreSQL a caller's
 * statements cost more than the rows that they write. The work locks rows in one order, because another process may do
 * the same. When a group fails, each item is written alone.
 */
export function groupWrites<Schema, Entry, Item, Result>(
  commit: Commit<Schema, Entry>,
  work: (tx: Transaction<Schema>, items: readonly Item[]) => Promise<Result[]>,
  options?: CommitOptions,
): (item: Item) => Promise<Result> {
  const write = (items: readonly Item[]) => commit((tx) => work(tx, items), options)
  const share = batch(async (items: Item[]): Promise<PromiseSettledResult<Result>[]> => {
    try {
      return (await write(items)).map((value) => ({ status: 'fulfilled', value }))
    } catch (error) {
      if (items.length === 1 || isDatabaseUnavailable(error)) throw error
      return Promise.allSettled(items.map(async (item) => (await write([item]))[0] as Result))
    }
  })
  return async (item) => resultOf(await share(item))
}

function resultOf<Result>(outcome: PromiseSettledResult<Result>): Result {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

type Work<Schema, Result> = (tx: Transaction<Schema>) => Promise<Result>
type Transact<Schema> = <Result>(work: Work<Schema, Result>, isOneStatement: boolean) => Promise<Result>

function ownTransaction<Schema>(db: Kysely<Schema>): Transact<Schema> {
  return (work, isOneStatement) =>
    isOneStatement
      ? // A connection without a transaction can write like one.
        db.connection().execute((connection) => work(connection as Transaction<Schema>))
      : db.transaction().execute(work)
}

function sharedTransaction<Schema>(db: Kysely<Schema>): Transact<Schema> {
  const alone = ownTransaction(db)
  const flush = batch(async (calls: Parameters<Transact<Schema>>[]): Promise<PromiseSettledResult<unknown>[]> => {
    const [first] = calls
    if (first && calls.length === 1) return [{ status: 'fulfilled', value: await alone(...first) }]
    return db.transaction().execute(async (tx) => {
      const outcomes: PromiseSettledResult<unknown>[] = []
      for (const [work] of calls) outcomes.push(await inSavepoint(tx, work))
      return outcomes
    })
  })
  return async <Result>(...call: [work: Work<Schema, Result>, isOneStatement: boolean]) =>
    resultOf(await flush(call)) as Result
}

const SAVEPOINT = CompiledQuery.raw('savepoint caller')
const RELEASE = CompiledQuery.raw('release caller')
const ROLL_BACK = CompiledQuery.raw('rollback to caller')

async function inSavepoint<Schema>(
  tx: Transaction<Schema>,
  work: Work<Schema, unknown>,
): Promise<PromiseSettledResult<unknown>> {
  await tx.executeQuery(SAVEPOINT)
  try {
    const value = await work(tx)
    await tx.executeQuery(RELEASE)
    return { status: 'fulfilled', value }
  } catch (reason) {
    // After some errors SQLite has rolled back the whole transaction, and this fails for all callers.
    await tx.executeQuery(ROLL_BACK)
    await tx.executeQuery(RELEASE)
    return { status: 'rejected', reason }
  }
}
