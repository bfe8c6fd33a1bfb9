import type { Position } from '@svc/database/journal/journal'
import { isSqlite, prepared } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db, RefundTable, RevocationTable, Tx, UnclaimedPaymentTable } from '../db/schema.ts'
import type { DocumentId } from './document-id.ts'
import type { CheckpointDocument } from './documents.ts'

/** Records names of documents that the database has and perhaps no journal has. */
export async function recordPending(tx: Tx, ids: readonly DocumentId[]): Promise<void> {
  for (const { kind, key } of ids) await addPending(tx, kind, key)
}

const addPending = prepared((tx: Tx, kind: DocumentId['kind'], key: string) =>
  tx
    .insertInto('journal_pending')
    .values({ kind, key })
    .onConflict((conflict) => conflict.doNothing()),
)

export async function pendingDocuments(db: Db): Promise<DocumentId[]> {
  return (await pendingRows(db)).rows
}

const pendingRows = prepared((db: Db) => db.selectFrom('journal_pending').selectAll())

/** The pending names among these. */
export async function pendingAmong(db: Db, ids: readonly DocumentId[]): Promise<DocumentId[]> {
  const [first, second = first] = ids
  if (!first || !second) return []
  // The most frequent case: a receipt, perhaps with its statement.
  if (ids.length <= 2) return (await pendingPair(db, first.kind, first.key, second.kind, second.key)).rows
  const pending: DocumentId[] = []
  for (const [kind, of] of Map.groupBy(ids, ({ kind }) => kind)) {
    const keys = of.map(({ key }) => key)
    const rows = db.selectFrom('journal_pending').selectAll().where('kind', '=', kind).where('key', 'in', keys)
    pending.push(...(await rows.execute()))
  }
  return pending
}

/** The pending changes of access, with their JSON. */
export async function pendingAccess(db: Db): Promise<{ key: string; revoked: string }[]> {
  return (await pendingChanges(db)).rows
}

const pendingChanges = prepared((db: Db) =>
  db
    .selectFrom('journal_pending as p')
    .innerJoin('revocations as r', 'r.revocation_id', 'p.key')
    .select(['p.key', 'r.revoked'])
    .where('p.kind', '=', 'access'),
)

const pendingPair = prepared(
  (db: Db, kind: DocumentId['kind'], key: string, otherKind: DocumentId['kind'], otherKey: string) =>
    db
      .selectFrom('journal_pending')
      .selectAll()
      .where(({ eb, or }) =>
        or([eb('kind', '=', kind).and('key', '=', key), eb('kind', '=', otherKind).and('key', '=', otherKey)]),
      ),
)

const ROWS_AT_ONCE = 500

export async function forgetPending(tx: Tx, ids: readonly DocumentId[]): Promise<void> {
  for (const [kind, of] of Map.groupBy(ids, ({ kind }) => kind)) {
    const keys = of.map(({ key }) => key)
    for (let i = 0; i < keys.length; i += ROWS_AT_ONCE)
      await tx
        .deleteFrom('journal_pending')
        .where('kind', '=', kind)
        .where('key', 'in', keys.slice(i, i + ROWS_AT_ONCE))
        .execute()
  }
}

/** How far the database has the contents of the journal's files. */
export async function readTo(db: Db): Promise<Map<string, number>> {
  const rows = await db.selectFrom('journal_files').selectAll().execute()
  return new Map(rows.map(({ file, read_to }) => [file, read_to]))
}

export async function setRead(tx: Tx, positions: readonly Position[]): Promise<void> {
  for (const { file, end, isLoss } of positions)
    await tx
      .insertInto('journal_files')
      .values({ file, read_to: end })
      .onConflict((conflict) => {
        const update = conflict.column('file').doUpdateSet({ read_to: end })
        return isLoss ? update : update.where('journal_files.read_to', '<', end)
      })
      .execute()
}

export async function forgetFiles(tx: Tx, files: readonly string[]): Promise<void> {
  for (const file of files) await tx.deleteFrom('journal_files').where('file', '=', file).execute()
}

/** Which documents of a kind the database has, by key. */
export async function knownKeys(
  db: Db,
  kind: 'receipt' | 'locker' | 'access' | 'publication',
  keys: readonly string[],
): Promise<Set<string>> {
  if (keys.length === 0) return new Set()
  const found =
    kind === 'receipt'
      ? db.selectFrom('receipts').select('receipt_id as key').where('receipt_id', 'in', keys)
      : kind === 'locker'
        ? db.selectFrom('lockers').select('locker_id as key').where('locker_id', 'in', keys)
        : kind === 'access'
          ? db.selectFrom('revocations').select('revocation_id as key').where('revocation_id', 'in', keys)
          : db.selectFrom('publications').select('tx as key').where('tx', 'in', keys)
  return new Set((await found.execute()).map(({ key }) => key))
}

/** The given digests that belong to statements of the database. */
export async function knownDigests(db: Db, digests: readonly string[]): Promise<Set<string>> {
  if (digests.length === 0) return new Set()
  const rows = await db
    .selectFrom('statements')
    .select('statement_digest')
    .where('statement_digest', 'in', digests)
    .execute()
  return new Set(rows.map(({ statement_digest }) => statement_digest as string))
}

/** The last sequence whose statements are permanently lost, by proof id. */
export async function lostSequences(db: Db, proofIds: readonly string[]): Promise<Map<string, number>> {
  if (proofIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('attestations')
    .select(['proof_id', 'lost_sequence'])
    .where('proof_id', 'in', proofIds)
    .where('lost_sequence', 'is not', null)
    .execute()
  return new Map(rows.map(({ proof_id, lost_sequence }) => [proof_id as string, lost_sequence as number]))
}

export async function hasRefund(db: Db, { network, tx, position, refund_tx }: RefundTable): Promise<boolean> {
  const row = await db
    .selectFrom('refunds')
    .select('refund_tx')
    .where('network', '=', network)
    .where('tx', '=', tx)
    .where('position', '=', position)
    .executeTakeFirst()
  return row !== undefined && (refund_tx === null || row.refund_tx === refund_tx)
}

export async function hasUnclaimed(db: Db, { network, tx, asset }: UnclaimedPaymentTable): Promise<boolean> {
  const row = db.selectFrom('unclaimed_payments').select('tx').where('network', '=', network).where('tx', '=', tx)
  return (await row.where('asset', '=', asset).executeTakeFirst()) !== undefined
}

/** A later checkpoint covers everything that an earlier one does. */
export async function hasLogAnchorOf(db: Db, size: number): Promise<boolean> {
  return (
    (await db.selectFrom('log_anchors').select('tx').where('size', '>=', size).limit(1).executeTakeFirst()) !==
    undefined
  )
}

/** True also if another log has started since. */
export async function hasCheckpoint(db: Db, { origin, checkpoint }: CheckpointDocument): Promise<boolean> {
  const log = await findOwnLog(db)
  if (log.origin !== origin) return log.origin !== null
  const row = await db
    .selectFrom('log_checkpoints')
    .select('root')
    .where('size', '=', checkpoint.size)
    .executeTakeFirst()
  return row?.root === checkpoint.root
}

export async function knownPublications(db: Db, txs: readonly string[]): Promise<Set<string>> {
  if (txs.length === 0) return new Set()
  const statements = await db.selectFrom('publications').select('tx').where('tx', 'in', txs).execute()
  const checkpoints = await db.selectFrom('log_anchors').select('tx').where('tx', 'in', txs).execute()
  return new Set([...statements, ...checkpoints].map(({ tx }) => tx))
}

/** The log of this database, and how many entries have positions in it. */
export async function findOwnLog(db: Db): Promise<{ origin: string | null; size: number }> {
  const log = await db.selectFrom('logs').select('origin').executeTakeFirst()
  const { last } = await db
    .selectFrom('log_entries')
    .select(({ fn }) => fn.max<number | null>('entry_index').as('last'))
    .executeTakeFirstOrThrow()
  return { origin: log?.origin ?? null, size: last === null ? 0 : last + 1 }
}

/** The recorded roots, by size. */
export async function findCheckpointRoots(db: Db, sizes: readonly number[]): Promise<Map<number, string>> {
  if (sizes.length === 0) return new Map()
  const rows = await db.selectFrom('log_checkpoints').select(['size', 'root']).where('size', 'in', sizes).execute()
  return new Map(rows.map(({ size, root }) => [size, root]))
}

/** The receipt of a proof. Receipts name theirs; attestations name those of older receipts. */
export async function findReceiptOfProof(db: Db, proofId: string): Promise<string | null> {
  const attested = await db
    .selectFrom('attestations')
    .select('receipt_id')
    .where('proof_id', '=', proofId)
    .executeTakeFirst()
  if (attested) return attested.receipt_id
  // The expression matches the index `receipts_proof`.
  const named = isSqlite(db) ? sql`receipt ->> 'proof_id'` : sql`cast(receipt as json) ->> 'proof_id'`
  const row = await db
    .selectFrom('receipts')
    .select('receipt_id')
    .where(sql<boolean>`${named} = ${proofId}`)
    .executeTakeFirst()
  return row?.receipt_id ?? null
}

/** The changes before a position, newest first. */
export function accessChangesOf(
  db: Db,
  /** A locker or a wallet. */
  subject: string,
  before: { at: number; id: string },
  limit: number,
): Promise<RevocationTable[]> {
  const change = sql.raw(isSqlite(db) ? 'revoked' : 'cast(revoked as json)')
  return (
    db
      .selectFrom('revocations')
      .selectAll()
      // The expression matches the index `revocations_subject`.
      .where(sql<boolean>`coalesce(${change} ->> 'locker', ${change} ->> 'wallet') = ${subject}`)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('revoked_at', 'revocation_id'), '<', tuple(before.at, before.id)))
      .orderBy('revoked_at', 'desc')
      .orderBy('revocation_id', 'desc')
      .limit(limit)
      .execute()
  )
}
