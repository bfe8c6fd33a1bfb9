import { isSqlite } from '@svc/database/prepared'
import type { NonceTable } from '@svc/guard/tables'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type StoredQuote, storedBody } from '@svc/sales/quote-template'
import { sql } from 'kysely'
import type { Db, Locker, PublicationTable, RevocationTable, Tx } from '../db/schema.ts'
import {
  type NotedReceipt,
  type NotedRefund,
  type NotedRevocation,
  type NotedStatement,
  noteOfReceipt,
  receiptHash,
} from './entries.ts'
import { parseRevoked } from './revoked.ts'
import { type SoldQuote, saleOf } from './sale.ts'

/** Those of the digests that statements of the database have. */
export async function knownDigests(db: Db, digests: readonly string[]): Promise<Set<string>> {
  if (digests.length === 0) return new Set()
  const rows = await db
    .selectFrom('statements')
    .select('statement_digest')
    .where('statement_digest', 'in', digests)
    .execute()
  return new Set(rows.map(({ statement_digest }) => statement_digest as string))
}

/** Up to which sequence losses are accepted, by proof id. */
export async function acceptedSequences(db: Db, proofIds: readonly string[]): Promise<Map<string, number>> {
  if (proofIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('lost_statements')
    .select(['proof_id', 'sequence'])
    .where('proof_id', 'in', proofIds)
    .execute()
  return new Map(rows.map(({ proof_id, sequence }) => [proof_id, sequence]))
}

/** The hashes of all receipts of these transactions, also of lost ones. */
export async function knownReceiptHashes(db: Db, txs: readonly string[]): Promise<Set<string>> {
  if (txs.length === 0) return new Set()
  const receipts = await db.selectFrom('receipts').select('receipt_id').where('tx', 'in', txs).execute()
  const lost = await db.selectFrom('lost_receipts').select('receipt_hash').where('tx', 'in', txs).execute()
  return new Set([
    ...receipts.map(({ receipt_id }) => receiptHash(receipt_id)),
    ...lost.map(({ receipt_hash }) => receipt_hash),
  ])
}

/** Transactions that have a refund, or that no quote can claim any more, as `network tx`. */
export async function closedTransactions(db: Db, txs: readonly string[]): Promise<Set<string>> {
  if (txs.length === 0) return new Set()
  const closed = await db
    .selectFrom('payment_transactions')
    .select(['network', 'tx'])
    .where('tx', 'in', txs)
    .where('kind', '=', 'lost')
    .execute()
  const refunded = await db.selectFrom('refunds').select(['network', 'tx']).where('tx', 'in', txs).execute()
  return new Set([...closed, ...refunded].map(({ network, tx }) => `${network} ${tx}`))
}

export async function knownRevocations(db: Db, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('revocations').select('revocation_id').where('revocation_id', 'in', ids).execute()
  return new Set(rows.map(({ revocation_id }) => revocation_id))
}

/** Those of a locker, in their order. */
export async function revocationsOf(db: Db, lockerId: string): Promise<NotedRevocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .selectAll()
    .where('revoked', 'like', `%"locker":"${lockerId}"%`)
    .orderBy('revoked_at')
    .execute()
  return rows.flatMap(notedRevocation)
}

export async function isLostReceipt(db: Db, receiptId: string): Promise<boolean> {
  const query = db.selectFrom('lost_receipts').select('receipt_hash')
  return (await query.where('receipt_hash', '=', receiptHash(receiptId)).executeTakeFirst()) !== undefined
}

/** False where the database has it already. */
export async function recordRevocation(tx: Tx, { id, revokedAt, revoked }: NotedRevocation): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('revocations')
    .values({ revocation_id: id, revoked_at: revokedAt, revoked: JSON.stringify(revoked) })
    .onConflict((conflict) => conflict.column('revocation_id').doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

export async function hasNonce(db: Db, { signer, nonce }: NonceTable): Promise<boolean> {
  const row = await db
    .selectFrom('nonces')
    .select('nonce')
    .where('signer', '=', signer)
    .where('nonce', '=', nonce)
    .executeTakeFirst()
  return row !== undefined
}

export async function knownPublications(db: Db, txs: readonly string[]): Promise<Set<string>> {
  if (txs.length === 0) return new Set()
  const statements = await db.selectFrom('publications').select('tx').where('tx', 'in', txs).execute()
  const checkpoints = await db.selectFrom('log_anchors').select('tx').where('tx', 'in', txs).execute()
  return new Set([...statements, ...checkpoints].map(({ tx }) => tx))
}

/** The log of this database, and how many entries have their places in it. */
export async function findLogStanding(db: Db): Promise<{ origin: string | null; size: number }> {
  const log = await db.selectFrom('logs').select('origin').executeTakeFirst()
  const { last } = await db
    .selectFrom('log_entries')
    .select(({ fn }) => fn.max<number | null>('entry_index').as('last'))
    .executeTakeFirstOrThrow()
  return { origin: log?.origin ?? null, size: last === null ? 0 : last + 1 }
}

/** By size; those that are recorded. */
export async function findCheckpointRoots(db: Db, sizes: readonly number[]): Promise<Map<number, string>> {
  if (sizes.length === 0) return new Map()
  const rows = await db.selectFrom('log_checkpoints').select(['size', 'root']).where('size', 'in', sizes).execute()
  return new Map(rows.map(({ size, root }) => [size, root]))
}

/** The receipt of a proof: receipts name theirs, and attestations have those of older receipts. */
export async function findReceiptOfProof(db: Db, proofId: string): Promise<string | null> {
  const attested = await db
    .selectFrom('attestations')
    .select('receipt_id')
    .where('proof_id', '=', proofId)
    .executeTakeFirst()
  if (attested) return attested.receipt_id
  // As in the index `receipts_proof`.
  const named = isSqlite(db) ? sql`receipt ->> 'proof_id'` : sql`cast(receipt as json) ->> 'proof_id'`
  const row = await db
    .selectFrom('receipts')
    .select('receipt_id')
    .where(sql<boolean>`${named} = ${proofId}`)
    .executeTakeFirst()
  return row?.receipt_id ?? null
}

export async function findLocker(db: Db, receiptId: string): Promise<Locker | null> {
  return (await db.selectFrom('lockers').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()) ?? null
}

/** The newest statement of each receipt attested since then, the newest first. */
export async function newestStatements(db: Db, since: number, limit: number): Promise<NotedStatement[]> {
  const rows = await db
    .selectFrom('attestations as a')
    .innerJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'a.receipt_id').onRef('s.sequence', '=', 'a.sequence'),
    )
    .select(['a.proof_id', 's.sequence', 's.statement_digest'])
    .where('a.attested_at', '>=', since)
    .where('s.statement_digest', 'is not', null)
    .orderBy('a.attested_at', 'desc')
    .limit(limit)
    .execute()
  return rows.flatMap(({ proof_id, sequence, statement_digest }) =>
    proof_id && statement_digest ? [{ kind: 'statement', proofId: proof_id, sequence, digest: statement_digest }] : [],
  )
}

/** Receipts confirmed since then, the newest first. `since`: ISO 8601. */
export async function newestReceipts(db: Db, since: string, limit: number): Promise<NotedReceipt[]> {
  const rows = await db
    .selectFrom('receipts as r')
    .leftJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select([
      'r.receipt',
      'r.pay_req_id',
      'p.created_at',
      'p.expires_at',
      'p.provider',
      'p.units',
      'p.quote',
      't.template',
    ])
    .where('r.confirmed_at', '>=', since)
    .orderBy('r.confirmed_at', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ receipt: text, ...row }) => {
    const receipt = JSON.parse(text) as SignedReceipt
    // Receipts that were imported have no quote.
    const sold = row.quote === null ? null : (row as StoredQuote & SoldQuote)
    return noteOfReceipt(receipt, sold && saleOf(receipt, { ...sold, quote: storedBody(sold) }))
  })
}

/** The newest first. */
export async function newestRevocations(db: Db, since: number, limit: number): Promise<NotedRevocation[]> {
  const rows = await db
    .selectFrom('revocations')
    .selectAll()
    .where('revoked_at', '>=', since)
    .orderBy('revoked_at', 'desc')
    .limit(limit)
    .execute()
  return rows.flatMap(notedRevocation)
}

function notedRevocation(row: RevocationTable): NotedRevocation[] {
  const { revocation_id: id, revoked_at: revokedAt, revoked: text } = row
  const revoked = parseRevoked(text)
  return revoked ? [{ kind: 'revocation', id, revokedAt, revoked }] : []
}

/** The transaction pays no other quote from then on; the quote that it paid gets its receipt again. */
export async function recordLostReceipt(tx: Tx, lost: NotedReceipt, at: number): Promise<void> {
  const sale = lost.sale && JSON.stringify(lost.sale)
  await closeTransaction(tx, lost)
  await tx
    .insertInto('lost_receipts')
    .values({
      receipt_hash: lost.receiptHash,
      network: lost.network,
      tx: lost.tx,
      proof_id: lost.proofId,
      confirmed_at: lost.confirmedAt,
      noted_at: at,
      sale,
    })
    .onConflict((conflict) =>
      conflict.column('receipt_hash').doUpdateSet({ sale }).where('lost_receipts.sale', 'is', null),
    )
    .execute()
}

/** What receipts that were not lost account for stays as it is. */
export async function closeTransaction(tx: Tx, { network, tx: paidBy }: NotedReceipt | NotedRefund): Promise<void> {
  await tx
    .insertInto('payment_transactions')
    .values({ network, tx: paidBy, kind: 'lost', payer: '', asset: '', received: '0', bound: '0' })
    .onConflict((conflict) => conflict.columns(['network', 'tx']).doUpdateSet({ kind: 'lost' }))
    .execute()
}

/** The next statement of the proof follows on this one. The receipt's statement no longer counts as up to date. */
export async function recordLostStatement(tx: Tx, lost: NotedStatement, at: number): Promise<void> {
  const row = { sequence: lost.sequence, statement_digest: lost.digest, noted_at: at }
  await tx
    .insertInto('lost_statements')
    .values({ proof_id: lost.proofId, ...row })
    .onConflict((conflict) =>
      conflict.column('proof_id').doUpdateSet(row).where('lost_statements.sequence', '<', lost.sequence),
    )
    .execute()
  await tx.updateTable('attestations').set({ manifest_version: null }).where('proof_id', '=', lost.proofId).execute()
}

export async function insertLandedPublication(tx: Tx, publication: PublicationTable): Promise<void> {
  await tx
    .insertInto('publications')
    .values(publication)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}
