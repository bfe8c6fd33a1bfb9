import type { SignedReceipt } from '@svc/protocol/receipt'
import { type NotNull, sql } from 'kysely'
import type { AttestationTable, Db, FileRow, Locker, StatementTable, Tx } from '../db/schema.ts'
import { type AttestationRecord, attestationRecord } from './record.ts'
import type { CronAttestConfig } from './settings.ts'

export async function findAttestation(db: Db, receiptId: string): Promise<AttestationTable | null> {
  const row = await db.selectFrom('attestations').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()
  return row ?? null
}

type Named = Pick<AttestationTable, 'receipt_id' | 'locker_id'>

/** Locks the row until the end of the transaction, and inserts it first if there is none. */
export async function lockAttestation(tx: Tx, named: Named): Promise<AttestationTable> {
  await insertPending(tx, named, null)
  const row = tx.selectFrom('attestations').selectAll().where('receipt_id', '=', named.receipt_id)
  return row.forUpdate().executeTakeFirstOrThrow()
}

/** Does nothing if the receipt has a row. */
export async function insertPending(tx: Tx, { receipt_id, locker_id }: Named, since: number | null): Promise<void> {
  await tx
    .insertInto('attestations')
    .values({ receipt_id, locker_id, status: 'pending', status_since: since })
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .execute()
}

/** Returns false if the receipt has a statement, or no row. */
export async function deletePending(tx: Tx, receiptId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('attestations')
    .where('receipt_id', '=', receiptId)
    .where('sequence', 'is', null)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Returns false if the receipt has a row. */
export async function insertAttestation(tx: Tx, row: AttestationTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('attestations')
    .values(row)
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** The proof that the receipt names under its signature; null for a receipt from before receipts named one. */
export async function findReceiptProof(db: Db, receiptId: string): Promise<string | null> {
  const row = await db.selectFrom('receipts').select('receipt').where('receipt_id', '=', receiptId).executeTakeFirst()
  return row ? ((JSON.parse(row.receipt) as SignedReceipt).proof_id ?? null) : null
}

export async function updateAttestation(tx: Tx, { receipt_id, ...row }: AttestationTable): Promise<void> {
  await tx.updateTable('attestations').set(row).where('receipt_id', '=', receipt_id).execute()
}

export async function insertStatement(tx: Tx, row: StatementTable): Promise<void> {
  await tx.insertInto('statements').values(row).execute()
}

/**
 * The newest statement of a receipt, or the one with a given sequence. Null if there is none, even while one is
 * pending.
 */
export async function findRecord(db: Db, receiptId: string, sequence?: number): Promise<AttestationRecord | null> {
  const current = await findAttestation(db, receiptId)
  const wanted = sequence ?? current?.sequence
  if (!current || wanted === null || wanted === undefined) return null
  const statement = await findStatement(db, receiptId, wanted)
  return statement && attestationRecord(statement, current)
}

export async function findStatement(db: Db, receiptId: string, sequence: number): Promise<StatementTable | null> {
  const row = await db
    .selectFrom('statements')
    .selectAll()
    .where('receipt_id', '=', receiptId)
    .where('sequence', '=', sequence)
    .executeTakeFirst()
  return row ?? null
}

/** Oldest first. */
export function pageOfStatements(db: Db, receiptId: string, from: number, limit: number): Promise<StatementTable[]> {
  return db
    .selectFrom('statements')
    .selectAll()
    .where('receipt_id', '=', receiptId)
    .where('sequence', '>=', from)
    .orderBy('sequence')
    .limit(limit)
    .execute()
}

/** The newest ones before a sequence, oldest first. Records of the oracle era have the sequence 0. */
export async function lastStatements(
  db: Db,
  receiptId: string,
  { from, before, limit }: { from: number; before: number; limit: number },
): Promise<StatementTable[]> {
  const rows = await db
    .selectFrom('statements')
    .selectAll()
    .where('receipt_id', '=', receiptId)
    .where('sequence', '>=', from)
    .where('sequence', '<', before)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
  return rows.reverse()
}

/** Before a sequence, newest first, without records of the oracle era. */
export function statementsBefore(
  db: Db,
  receiptId: string,
  sequence: number,
  limit: number,
): Promise<{ sequence: number; issued_at: number; statement_digest: string }[]> {
  return db
    .selectFrom('statements')
    .select(['sequence', 'issued_at', 'statement_digest'])
    .$narrowType<{ statement_digest: NotNull }>()
    .where('receipt_id', '=', receiptId)
    .where('statement_digest', 'is not', null)
    .where('sequence', '<', sequence)
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

export async function hasConfirmedFile(db: Db, lockerId: string): Promise<boolean> {
  const row = await db
    .selectFrom('files')
    .select('filename')
    .where('locker_id', '=', lockerId)
    .where('content_hash', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** In no particular order. Objects that no longer belong to a file are missing. */
export function findFilesOfObjects(db: Db, objectIds: readonly string[]): Promise<FileRow[]> {
  return db.selectFrom('files').selectAll().where('object_id', 'in', objectIds).execute()
}

interface StatusCount {
  status: AttestationTable['status']
  count: number
  oldest_since: number | null
  /** How many of them have no known age. */
  without_since: number
}

/** Lockers that rely on the log for publishing do not wait for a transaction. */
const WAITING_SINCE = sql<number | null>`case when status = 'computed' and exists (
  select 1 from lockers l where l.receipt_id = attestations.receipt_id and l.anchoring = 'log'
) then null else status_since end`

export async function countByStatus(db: Db): Promise<StatusCount[]> {
  const counts = await db
    .selectFrom('attestations')
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('count'),
      fn.min<number | null>(WAITING_SINCE).as('oldest_since'),
      fn.count<number>('status_since').as('with_since'),
    ])
    .groupBy('status')
    .execute()
  return counts.map(({ with_since, ...of }) => ({ ...of, without_since: of.count - with_since }))
}

export interface DueLocker {
  receipt_id: string
  locker_id: string
  /** The sequence of its newest statement. */
  sequence: number
  /** Whether that statement is so old that it gets a successor even if nothing has changed. */
  isAged: boolean
  /** Whether its publication failed and is due again. */
  isPushDue: boolean
  anchoring: Locker['anchoring']
}

interface DueQuery extends Pick<CronAttestConfig, 'publish' | 'batchSize' | 'minAgeHours' | 'filter' | 'tiers'> {
  /** Unix seconds. */
  now: number
}

/**
 * Lockers that are due to be attested or published again, oldest statement first. A locker without a statement is never
 * due (CRON-05).
 */
export async function findDueLockers(db: Db, query: DueQuery): Promise<DueLocker[]> {
  const { filter, minAgeHours, batchSize, now } = query
  const cutoff = now - minAgeHours * 3600
  const isUnchanged = filter === 'unchanged'
  const aged = selectAttested(db, query)
    .where('a.attested_at', '<=', cutoff)
    .$if(isUnchanged, (of) => of.whereRef('l.manifest_version', '=', 'a.manifest_version'))
  const changed = selectAttested(db, query)
    .where('a.attested_at', '>', cutoff)
    .whereRef('l.manifest_version', '>', 'a.manifest_version')
  const unpublished = selectAttested(db, query).where('a.push_at', '<=', now).where('l.anchoring', '=', 'each')
  const due: DueLocker[] = [
    ...(await aged.execute()).map((row) => ({ ...row, isAged: true, isPushDue: false })),
    ...(isUnchanged ? [] : await changed.execute()).map((row) => ({ ...row, isAged: false, isPushDue: false })),
  ]
  const attested = new Set(due.map(({ receipt_id }) => receipt_id))
  for (const row of query.publish ? await unpublished.execute() : [])
    if (!attested.has(row.receipt_id)) due.push({ ...row, isAged: false, isPushDue: true })
  return due.slice(0, batchSize)
}

function selectAttested(db: Db, { filter, tiers, batchSize, now }: DueQuery) {
  const tags = filter === 'opted_in' ? ['cron_attest'] : filter === 'tier' ? tiers.map((tier) => `tier:${tier}`) : []
  return db
    .selectFrom('attestations as a')
    .innerJoin('lockers as l', 'l.receipt_id', 'a.receipt_id')
    .leftJoin('cron_failures as f', 'f.receipt_id', 'a.receipt_id')
    .select(['a.receipt_id', 'a.locker_id', 'a.sequence', 'l.anchoring'])
    .where('a.sequence', 'is not', null)
    .where(({ eb, or }) => or([eb('f.retry_at', 'is', null), eb('f.retry_at', '<=', now)]))
    .$if(tags.length > 0, (query) => query.where(({ or }) => or(tags.flatMap(hasTag))))
    .orderBy('a.attested_at')
    .orderBy('a.receipt_id')
    .limit(batchSize)
    .$narrowType<{ sequence: NotNull }>()
}

/** In JSON text, a quote after a bracket or comma starts a string. `LIKE` differs between the databases. */
function hasTag(tag: string) {
  const tags = sql.ref('l.tags')
  return ['[', ','].map((before) => sql<boolean>`replace(${tags}, ${before + JSON.stringify(tag)}, '') <> ${tags}`)
}

export async function recordCronFailure(
  tx: Tx,
  receipt_id: string,
  times: { failed_at: number; retry_at: number },
): Promise<void> {
  await tx
    .insertInto('cron_failures')
    .values({ receipt_id, ...times })
    .onConflict((conflict) => conflict.column('receipt_id').doUpdateSet(times))
    .execute()
}

export async function deleteCronFailure(tx: Tx, receiptId: string): Promise<void> {
  await tx.deleteFrom('cron_failures').where('receipt_id', '=', receiptId).execute()
}
