import { withAdvisoryLock } from '@svc/database/advisory-lock'
import { isSqlite } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db, LogCheckpointTable, LogEntryTable, LogTable, Tx } from '../../db/schema.ts'

/** Any number that no other advisory lock in the same database uses. */
const WRITER_LOCK = 5_723_840_361

/** Every step of a writer is idempotent, so two active writers do no harm. */
export function asWriter(db: Db, work: () => Promise<void>): Promise<void> {
  return withAdvisoryLock(db, WRITER_LOCK, work)
}

/**
 * Waits for the active writer and blocks others until the end of the transaction. SQLite needs no lock: it has one
 * writer.
 */
export async function waitForWriter(tx: Tx): Promise<void> {
  if (!isSqlite(tx)) await sql`select pg_advisory_xact_lock(${WRITER_LOCK})`.execute(tx)
}

export async function findLog(db: Db): Promise<LogTable | null> {
  return (await db.selectFrom('logs').selectAll().executeTakeFirst()) ?? null
}

export async function insertLog(tx: Tx, log: LogTable): Promise<void> {
  await tx.deleteFrom('logs').execute()
  await tx.insertInto('logs').values(log).execute()
}

/** Locks until the end of the transaction, so that processes that start together agree. */
export async function lockLogs(tx: Tx): Promise<void> {
  if (!isSqlite(tx)) await sql`lock table logs in share row exclusive mode`.execute(tx)
}

/** How many entries have a position. */
export async function countSequenced(db: Db): Promise<number> {
  const row = await db
    .selectFrom('log_entries')
    .select('entry_index as last')
    .where('entry_index', 'is not', null)
    .orderBy('entry_index', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row === undefined ? 0 : (row.last as number) + 1 // selected as not null
}

/** Includes entries that wait for a position. */
export async function countEntries(db: Db): Promise<number> {
  const { waiting } = await db
    .selectFrom('log_entries')
    .select(({ fn }) => fn.countAll<number>().as('waiting'))
    .where('entry_index', 'is', null)
    .executeTakeFirstOrThrow()
  return (await countSequenced(db)) + waiting
}

export async function isAnyWaiting(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('log_entries')
    .select('statement_digest')
    .where('entry_index', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Gives waiting entries the next positions, in the order of their arrival. */
export async function sequenceWaiting(tx: Tx, first: number, limit: number): Promise<void> {
  await sql`
    update log_entries set entry_index = placed.place
    from (
      select statement_digest, row_number() over (order by position, statement_digest) - 1 + ${sql.lit(first)} as place
      from (
        select statement_digest, position from log_entries
        where entry_index is null order by position, statement_digest limit ${sql.lit(limit)}
      ) as waiting
    ) as placed
    where log_entries.statement_digest = placed.statement_digest`.execute(tx)
}

/** Digests in the order of the log. */
export async function entriesBetween(db: Db, start: number, end: number): Promise<string[]> {
  const rows = await db
    .selectFrom('log_entries')
    .select('statement_digest')
    .where('entry_index', '>=', start)
    .where('entry_index', '<', end)
    .orderBy('entry_index')
    .execute()
  return rows.map(({ statement_digest }) => statement_digest)
}

export async function findEntry(db: Db, statementDigest: string): Promise<LogEntryTable | null> {
  const row = db.selectFrom('log_entries').selectAll().where('statement_digest', '=', statementDigest)
  return (await row.executeTakeFirst()) ?? null
}

/** With their statements, if the database has them. */
export function pageOfEntries(db: Db, { from, end, limit }: { from: number; end: number; limit: number }) {
  return db
    .selectFrom('log_entries as e')
    .leftJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'e.receipt_id').onRef('s.sequence', '=', 'e.sequence'),
    )
    .select(['e.statement_digest', 's.record', 's.anchor'])
    .where('e.entry_index', '>=', from)
    .where('e.entry_index', '<', end)
    .orderBy('e.entry_index')
    .limit(limit)
    .execute()
}

/** Changes nothing for an entry that already has a position. */
export async function restoreEntries(
  tx: Tx,
  entries: readonly { statement_digest: string; entry_index: number }[],
): Promise<void> {
  await tx
    .insertInto('log_entries')
    .values(entries.map((entry) => ({ ...entry, position: null, receipt_id: null, sequence: null })))
    .onConflict((conflict) =>
      conflict
        .column('statement_digest')
        .doUpdateSet(({ ref }) => ({ entry_index: ref('excluded.entry_index') }))
        .where('log_entries.entry_index', 'is', null),
    )
    .execute()
}

export async function findCheckpoint(db: Db, size: number): Promise<LogCheckpointTable | null> {
  const row = db.selectFrom('log_checkpoints').selectAll().where('size', '=', size)
  return (await row.executeTakeFirst()) ?? null
}

/** The newest checkpoint, or the newest up to a size. */
export async function newestCheckpoint(db: Db, upTo?: number): Promise<LogCheckpointTable | null> {
  const row = await db
    .selectFrom('log_checkpoints')
    .selectAll()
    .$if(upTo !== undefined, (query) => query.where('size', '<=', upTo as number))
    .orderBy('size', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row ?? null
}

/** Returns the checkpoint that is recorded under the size afterwards; another writer may have recorded it. */
export async function recordCheckpoint(tx: Tx, checkpoint: LogCheckpointTable): Promise<LogCheckpointTable> {
  await tx
    .insertInto('log_checkpoints')
    .values(checkpoint)
    .onConflict((conflict) => conflict.column('size').doNothing())
    .execute()
  return (await findCheckpoint(tx, checkpoint.size)) as LogCheckpointTable // recorded above
}

/** With the signatures of its witnesses. */
export async function findCosigned(db: Db, { size, note }: LogCheckpointTable): Promise<string> {
  const row = await db.selectFrom('log_cosignatures').select('lines').where('size', '=', size).executeTakeFirst()
  return note + (row?.lines ?? '')
}

/** Checkpoints with more than `above` and at most `upTo` entries. */
export interface SizeRange {
  above: number
  upTo: number
}

/** The newest checkpoint that enough witnesses have cosigned. */
export async function newestQuorum(db: Db, { above, upTo }: SizeRange) {
  const row = db
    .selectFrom('log_cosignatures as w')
    .innerJoin('log_checkpoints as c', 'c.size', 'w.size')
    .selectAll('c')
    .select('w.lines')
    .where('w.is_quorum', '=', 1)
    .where('w.size', '>', above)
    .where('w.size', '<=', upTo)
    .orderBy('w.size', 'desc')
    .limit(1)
  return (await row.executeTakeFirst()) ?? null
}

/** Must match the index `log_anchors_size` word for word: SQLite uses the index for nothing else. */
export const anchorMayBeGood = sql<boolean>`state in ('sent', 'landed', 'finalized')`

/** The oldest checkpoint on chain, with its anchor. */
export async function oldestAnchored(db: Db, { above, upTo }: SizeRange) {
  const row = db
    .selectFrom('log_anchors as a')
    .innerJoin('log_checkpoints as c', 'c.size', 'a.size')
    .leftJoin('log_cosignatures as w', 'w.size', 'a.size')
    .selectAll('a')
    .select(['c.note', 'w.lines'])
    .where(anchorMayBeGood)
    .where('a.state', 'in', ['landed', 'finalized'])
    .where('a.size', '>', above)
    .where('a.size', '<=', upTo)
    .orderBy('a.size')
    .limit(1)
  return (await row.executeTakeFirst()) ?? null
}

/** Whether a final block from before then contains a checkpoint that covers the statement. */
export async function isLoggedBefore(db: Db, statementDigest: string, unixSeconds: number): Promise<boolean> {
  const row = db
    .selectFrom('log_entries as e')
    .innerJoin('log_anchors as a', (join) => join.onRef('a.size', '>', 'e.entry_index'))
    .select('a.tx')
    .where('e.statement_digest', '=', statementDigest)
    .where('a.state', '=', 'finalized')
    .where('a.block_time', '<', unixSeconds)
    .limit(1)
  return (await row.executeTakeFirst()) !== undefined
}

/**
 * Makes all entries wait for a position again, in the same order. Removes everything that was signed, cosigned and
 * anchored.
 */
export async function clearLog(tx: Tx): Promise<void> {
  const placed = await countSequenced(tx)
  await tx
    .updateTable('log_entries')
    .set(({ eb, ref }) => ({ position: eb(ref('entry_index'), '-', placed), entry_index: null }))
    .where('entry_index', 'is not', null)
    .execute()
  for (const table of ['log_checkpoints', 'log_cosignatures', 'log_witnesses', 'log_anchors'] as const)
    await tx.deleteFrom(table).execute()
}

/** An ended log of this database, as `svc-gateway replay --new-log` has recorded it. */
export interface EndedLog {
  origin: string
  vkey: string
  ended_at: string
  /** The last known checkpoint, and the published one if it differs. */
  checkpoints: string[]
}

/** The newest first. */
export async function endedLogs(db: Db): Promise<EndedLog[]> {
  const rows = await db
    .selectFrom('audit_log')
    .select(['at', 'details'])
    .where('target', '=', 'log')
    .where('action', '=', 'begin_log')
    .where('outcome', '=', 'done')
    .orderBy('sequence', 'desc')
    .execute()
  return rows.map(({ at, details }) => {
    const { origin, vkey, checkpoints } = JSON.parse(details) as Omit<EndedLog, 'ended_at'>
    return { origin, vkey, ended_at: at, checkpoints }
  })
}
