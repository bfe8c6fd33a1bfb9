import type { Transaction } from 'kysely'
import type { AttestationTable, Db, FileRow, Schema, StatementTable } from '../db/schema.ts'
import { type AttestationRecord, attestationRecord } from './record.ts'

export async function findAttestation(db: Db, receiptId: string): Promise<AttestationTable | null> {
  const row = await db.selectFrom('attestations').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()
  return row ?? null
}

type Tx = Transaction<Schema>
type Named = Pick<AttestationTable, 'receipt_id' | 'locker_id'>

/** Kept from others until the end of the transaction; made where there is none. */
export async function lockAttestation(tx: Tx, named: Named): Promise<AttestationTable> {
  await insertPending(tx, named, null)
  const row = tx.selectFrom('attestations').selectAll().where('receipt_id', '=', named.receipt_id)
  return row.forUpdate().executeTakeFirstOrThrow()
}

/** Where there is nothing yet. */
export async function insertPending(tx: Tx, { receipt_id, locker_id }: Named, since: number | null): Promise<void> {
  await tx
    .insertInto('attestations')
    .values({ receipt_id, locker_id, status: 'pending', status_since: since })
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .execute()
}

/** False when nobody waits for a first statement. */
export async function deletePending(db: Db, receiptId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('attestations')
    .where('receipt_id', '=', receiptId)
    .where('sequence', 'is', null)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export async function updateAttestation(tx: Tx, { receipt_id, ...row }: AttestationTable): Promise<void> {
  await tx.updateTable('attestations').set(row).where('receipt_id', '=', receipt_id).execute()
}

export async function insertStatement(tx: Tx, row: StatementTable): Promise<void> {
  await tx.insertInto('statements').values(row).execute()
}

/** The newest statement of a receipt, or the one of a sequence; null when there is none, also while one is pending. */
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

/** In no order; fewer than objects where some are of no file any more. */
export function findFilesOfObjects(db: Db, objectIds: readonly string[]): Promise<FileRow[]> {
  return db.selectFrom('files').selectAll().where('object_id', 'in', objectIds).execute()
}

interface StatusCount {
  status: AttestationTable['status']
  count: number
  oldest_since: number | null
  /** How many of them nobody knows the age of. */
  without_since: number
}

export async function countByStatus(db: Db): Promise<StatusCount[]> {
  const counts = await db
    .selectFrom('attestations')
    .select(({ fn }) => [
      'status',
      fn.countAll<number>().as('count'),
      fn.min<number | null>('status_since').as('oldest_since'),
      fn.count<number>('status_since').as('with_since'),
    ])
    .groupBy('status')
    .execute()
  return counts.map(({ with_since, ...of }) => ({ ...of, without_since: of.count - with_since }))
}
