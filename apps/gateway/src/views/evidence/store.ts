import { prepared } from '@svc/database/prepared'
import { type Expression, sql } from 'kysely'
import type { AttestationTable, Db, StatementTable } from '../../db/schema.ts'

/** The mutable facts of a receipt. An answer about its newest statement is valid while these are unchanged. */
export interface AttestationState {
  status: AttestationTable['status']
  sequence: number | null
  anchor_error: string | null
  deferral: string | null
  anchor: string | null
  /** When a key was last revoked: its signatures may no longer be valid. Null also without an attestation. */
  revoked_at: string | null
}

const LAST_REVOCATION = sql<string | null>`(select max(issued_at) from key_changes where kind = 'revocation')`

/** One row for each receipt with an attestation, in no particular order. */
export function findStates(
  db: Db,
  receiptIds: readonly string[],
): Promise<(AttestationState & { receipt_id: string })[]> {
  return db
    .selectFrom('attestations as a')
    .leftJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'a.receipt_id').onRef('s.sequence', '=', 'a.sequence'),
    )
    .select(['a.receipt_id', 'a.status', 'a.sequence', 'a.anchor_error', 'a.deferral', 's.anchor'])
    .select(LAST_REVOCATION.as('revoked_at'))
    .where('a.receipt_id', 'in', receiptIds)
    .execute()
}

export interface EvidenceRow {
  /** JSON, as it is sent. */
  receipt: string
  state: AttestationState
  /** The newest statement, or the one with the given sequence. */
  statement: StatementTable | null
}

/** One query, so that the statement, its status and its anchor belong to the same moment. */
function selectEvidence(db: Db, receiptId: string, sequence: Expression<number | null>) {
  return db
    .selectFrom('receipts as r')
    .leftJoin('attestations as a', 'a.receipt_id', 'r.receipt_id')
    .leftJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'a.receipt_id').on('s.sequence', '=', sequence),
    )
    .selectAll('s')
    .select([
      'r.receipt',
      'a.receipt_id as attested',
      'a.status',
      'a.sequence as newest',
      'a.anchor_error',
      'a.deferral',
    ])
    .select(LAST_REVOCATION.as('revoked_at'))
    .where('r.receipt_id', '=', receiptId)
}

const findNewest = prepared((db: Db, receiptId: string) => selectEvidence(db, receiptId, sql.ref('a.sequence')))
const findNumbered = prepared((db: Db, receiptId: string, sequence: number) =>
  selectEvidence(db, receiptId, sql.val(sequence)),
)

export async function findEvidence(db: Db, receiptId: string, sequence?: number): Promise<EvidenceRow | null> {
  const { rows } = await (sequence === undefined ? findNewest(db, receiptId) : findNumbered(db, receiptId, sequence))
  const [row] = rows
  if (!row) return null
  const { receipt, attested, status, newest, anchor_error, deferral, revoked_at, ...statement } = row
  return {
    receipt,
    state: {
      status,
      sequence: newest,
      anchor_error,
      deferral,
      anchor: statement.anchor,
      revoked_at: attested === null ? null : revoked_at,
    },
    // The left join returns all columns of a statement or none.
    statement: statement.receipt_id === null ? null : (statement as StatementTable),
  }
}

type PublishedRow = Pick<StatementTable, 'record' | 'anchor'>

export async function findByDigest(db: Db, digest: string): Promise<PublishedRow | null> {
  const statement = db.selectFrom('statements').select(['record', 'anchor']).where('statement_digest', '=', digest)
  return (await statement.executeTakeFirst()) ?? null
}

export async function findByTransaction(db: Db, tx: string): Promise<PublishedRow | null> {
  const statement = db
    .selectFrom('publications as p')
    .innerJoin('statements as s', (join) =>
      join.onRef('s.receipt_id', '=', 'p.receipt_id').onRef('s.sequence', '=', 'p.sequence'),
    )
    .select(['s.record', 's.anchor'])
    .where('p.tx', '=', tx)
    .where('p.state', 'in', ['landed', 'finalized'])
  return (await statement.executeTakeFirst()) ?? null
}
