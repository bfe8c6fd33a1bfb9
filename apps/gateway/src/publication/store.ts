import type { Anchor, AnchorAbsence, AnchorError } from '@svc/api/attestations'
import type { DocumentId } from '../continuity/document-id.ts'
import { anchorKey } from '../continuity/documents.ts'
import type { AttestationTable, Db, PaymentCodeTable, PublicationTable, Tx } from '../db/schema.ts'
import { PUSH_AGAIN_SECONDS } from '../evidence/statements.ts'

export type Statement = Pick<PublicationTable, 'receipt_id' | 'sequence'>

/** The transaction of the receipt that may still land, for any of its statements. */
export async function findSent(db: Db, receiptId: string): Promise<PublicationTable | null> {
  const row = await db
    .selectFrom('publications')
    .selectAll()
    .where('receipt_id', '=', receiptId)
    .where('state', '=', 'sent')
    .executeTakeFirst()
  return row ?? null
}

export async function findPublication(db: Db, signature: string): Promise<PublicationTable | null> {
  return (await db.selectFrom('publications').selectAll().where('tx', '=', signature).executeTakeFirst()) ?? null
}

/** The journal's id of a statement: sending a transaction makes the statement public. */
export async function documentIdOfStatement(db: Db, { receipt_id, sequence }: Statement): Promise<DocumentId[]> {
  const row = await db
    .selectFrom('statements')
    .select('statement_digest')
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .executeTakeFirst()
  return row?.statement_digest ? [{ kind: 'statement', key: row.statement_digest }] : []
}

/** The documents of a transaction that was recorded and perhaps not sent. */
export async function documentsOfSent(db: Db, sent: PublicationTable): Promise<DocumentId[]> {
  return [{ kind: 'publication', key: anchorKey(sent.tx, 'sent') }, ...(await documentIdOfStatement(db, sent))]
}

/** In the order in which they were sent. */
export function pageOfPublications(
  db: Db,
  state: PublicationTable['state'],
  { sentBefore, limit }: { sentBefore: number; limit: number },
): Promise<PublicationTable[]> {
  return db
    .selectFrom('publications')
    .selectAll()
    .where('state', '=', state)
    .where('sent_at', '<=', sentBefore)
    .orderBy('sent_at')
    .limit(limit)
    .execute()
}

/** False, without a write, if the receipt has an open transaction or the statement is published. */
export async function insertPublication(tx: Tx, row: PublicationTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('publications')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** For a publication that was inserted in the same transaction. */
export async function deletePublication(tx: Tx, signature: string): Promise<void> {
  await tx.deleteFrom('publications').where('tx', '=', signature).execute()
}

type Change = Pick<PublicationTable, 'state'> & Partial<Pick<PublicationTable, 'fee_lamports' | 'rent_lamports'>>

/** False if the state has changed since it was read. */
export async function changePublication(
  tx: Tx,
  { tx: signature, state }: Pick<PublicationTable, 'tx' | 'state'>,
  change: Change,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('publications')
    .set(change)
    .where('tx', '=', signature)
    .where('state', '=', state)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function findAnchor(db: Db, { receipt_id, sequence }: Statement): Promise<Anchor | null> {
  const row = await db
    .selectFrom('statements')
    .select('anchor')
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .executeTakeFirst()
  return row?.anchor ? JSON.parse(row.anchor) : null
}

/** Whether an earlier statement of the receipt wrote this account of the attestation registry. */
export async function hasWrittenAccount(
  db: Db,
  { receipt_id, sequence }: Statement,
  account: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('statements')
    .select('sequence')
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '<', sequence)
    .where('anchor', 'like', `%"attestation":"${account}"%`)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function setAnchor(tx: Tx, { receipt_id, sequence }: Statement, anchor: Anchor | null): Promise<void> {
  await tx
    .updateTable('statements')
    .set({ anchor: anchor && JSON.stringify(anchor) })
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .execute()
}

/** Locks the row until the end of the transaction. Every change of publications takes this lock first. */
export function lockAttestationOf(tx: Tx, receiptId: string): Promise<AttestationTable> {
  const row = tx.selectFrom('attestations').selectAll().where('receipt_id', '=', receiptId)
  return row.forUpdate().executeTakeFirstOrThrow()
}

interface StatusChange {
  status: 'computed' | 'pushing' | 'complete'
  at: number
  error: AnchorError | null
}

const FIRST_PAUSE_SECONDS = 15

/**
 * For a locked row. Does nothing unless `sequence` is its newest statement. Failed attempts leave `status_since`
 * unchanged; after each, publishing pauses for as long as the statement has waited, an hour at most.
 */
export async function setAttestationStatus(
  tx: Tx,
  before: AttestationTable,
  { receipt_id, sequence }: Statement,
  { status, at, error }: StatusChange,
): Promise<void> {
  const status_since = before.status === 'complete' ? at : before.status_since
  const pause = Math.min(Math.max(at - (status_since ?? at), FIRST_PAUSE_SECONDS), PUSH_AGAIN_SECONDS)
  const isDue = status === 'computed' && error?.retryable !== false
  await tx
    .updateTable('attestations')
    .set({
      status,
      status_since,
      anchor_error: error && JSON.stringify(error),
      deferral: null,
      push_at: isDue ? at + pause : null,
    })
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .execute()
}

/** Does nothing unless `sequence` is the newest statement. */
export async function setDeferral(
  tx: Tx,
  { receipt_id, sequence }: Statement,
  { deferral, at }: { deferral: AnchorAbsence; at: number },
): Promise<void> {
  await tx
    .updateTable('attestations')
    .set({ deferral: JSON.stringify(deferral), push_at: at + PUSH_AGAIN_SECONDS })
    .where('receipt_id', '=', receipt_id)
    .where('sequence', '=', sequence)
    .execute()
}

/** The receipts whose newest statement is due to be published again, the longest overdue first. */
export function duePushes(db: Db, now: number, limit: number): Promise<Pick<AttestationTable, 'receipt_id'>[]> {
  return db
    .selectFrom('attestations')
    .select('receipt_id')
    .where('push_at', '<=', now)
    .orderBy('push_at')
    .limit(limit)
    .execute()
}

/**
 * Postpones the next push of a receipt. False if another process was first. An older release, which does not know the
 * column, leaves it unchanged when it publishes the statement.
 */
export async function claimDuePush(tx: Tx, receiptId: string, now: number): Promise<boolean> {
  const taken = await tx
    .updateTable('attestations')
    .set(({ eb }) => ({
      push_at: eb
        .case()
        .when('status', 'in', ['computed', 'pushing'])
        .then(now + PUSH_AGAIN_SECONDS)
        .else(null)
        .end(),
    }))
    .where('receipt_id', '=', receiptId)
    .where('push_at', '<=', now)
    .returning('push_at')
    .executeTakeFirst()
  return taken !== undefined && taken.push_at !== null
}

/** Leaves an existing row unchanged. */
export async function recordPaymentCode(
  tx: Tx,
  row: Pick<PaymentCodeTable, 'receipt_id' | 'att_code' | 'recorded_at'>,
): Promise<void> {
  await tx
    .insertInto('payment_codes')
    .values(row)
    .onConflict((conflict) => conflict.column('receipt_id').doNothing())
    .execute()
}

export function findPaymentCode(db: Db, receiptId: string): Promise<PaymentCodeTable> {
  return db.selectFrom('payment_codes').selectAll().where('receipt_id', '=', receiptId).executeTakeFirstOrThrow()
}

type SignedMemo = Pick<PaymentCodeTable, 'tx' | 'raw' | 'last_valid_height'>

/** Replaces the `lost` transaction; false if another process was first. */
export async function recordPaymentMemo(
  tx: Tx,
  receiptId: string,
  lost: string | null,
  signed: SignedMemo,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('payment_codes')
    .set(signed)
    .where('receipt_id', '=', receiptId)
    .where('tx', lost === null ? 'is' : '=', lost)
    .where('slot', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

export async function recordPaymentSlot(tx: Tx, receiptId: string, slot: number): Promise<void> {
  await tx.updateTable('payment_codes').set({ slot }).where('receipt_id', '=', receiptId).execute()
}
