import type { Statements } from '@svc/api/evidence'
import type { StatementRecord } from '../attestations/record.ts'
import { findAttestation, pageOfStatements } from '../attestations/store.ts'
import type { Context } from '../context.ts'
import type { StatementTable } from '../db/schema.ts'
import { findReceiptText } from '../purchases/store.ts'
import { receiptNotFound } from './read-evidence.ts'

const PAGE = 100

/** The chain from its first statement on. Records of the oracle era are not in it: they name no statement before them. */
export async function listStatements(
  { database: { db } }: Context,
  { receipt_id, from = 1, limit = PAGE }: { receipt_id: string; from?: number; limit?: number },
): Promise<Statements> {
  if ((await findReceiptText(db, receipt_id)) === null) throw receiptNotFound()
  const attestation = await findAttestation(db, receipt_id)
  const rows = await pageOfStatements(db, receipt_id, from, limit + 1)
  const next = rows[limit]
  return {
    receipt_id,
    proof_id: attestation?.proof_id ?? null,
    statements: rows.slice(0, limit).map(link),
    ...(next && { next_sequence: next.sequence }),
  }
}

function link({ sequence, record, anchor }: StatementTable): Statements['statements'][number] {
  const { envelope } = JSON.parse(record) as StatementRecord
  if (!envelope) throw new Error(`statement ${sequence} has no envelope`)
  const { body, statement_digest } = envelope
  return {
    sequence,
    statement_digest,
    prev_statement_digest: body.prev_statement_digest,
    snapshot_id: body.snapshot_id,
    merkle_root: body.merkle_root,
    file_count: body.file_count,
    total_bytes: body.total_bytes,
    issued_at: body.issued_at,
    anchor: anchor === null ? null : JSON.parse(anchor),
  }
}
