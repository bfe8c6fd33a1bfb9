import type { Statements } from '@svc/api/evidence'
import { receiptNotFound } from '../../auth/errors.ts'
import type { Config } from '../../config.ts'
import type { Context } from '../../context.ts'
import type { AttestationTable, Db, StatementTable } from '../../db/schema.ts'
import { anchorAbsence, type StatementRecord } from '../../evidence/record.ts'
import { findAttestation, lastStatements, pageOfStatements } from '../../evidence/store.ts'
import { registryKey } from '../../publication/evm-registry/entry.ts'
import { findEntry } from '../../publication/evm-registry/store.ts'
import { findReceiptText } from '../../purchases/store.ts'

const PAGE = 100

/**
 * Pages through the chain of statements. A record of the oracle era is not part of it, because it names no predecessor.
 */
export async function listStatements(
  { database: { db }, config, continuity }: Context,
  query: { receipt_id: string; from?: number; limit?: number; before?: number; envelopes?: boolean },
): Promise<Statements> {
  const { receipt_id, from = 1, limit = PAGE, before, envelopes = false } = query
  if ((await findReceiptText(db, receipt_id)) === null) throw receiptNotFound()
  const attestation = await findAttestation(db, receipt_id)
  const rows =
    before === undefined
      ? await pageOfStatements(db, receipt_id, from, limit + 1)
      : await lastStatements(db, receipt_id, { from, before, limit })
  await continuity.requireWritten(...rows.flatMap(documentIdOf))
  const next = rows[limit]
  const entry = await registryEntry(db, config, receipt_id)
  return {
    receipt_id,
    proof_id: attestation?.proof_id ?? null,
    // Statements only have rows together with an attestation.
    statements: rows.slice(0, limit).map((row) => link(row, attestation as AttestationTable, envelopes)),
    ...(next && { next_sequence: next.sequence }),
    ...(entry && { evm_registry: entry }),
  }
}

function documentIdOf({ statement_digest: key }: StatementTable) {
  return key === null ? [] : [{ kind: 'statement' as const, key }]
}

/** Null if the gateway has no EVM registry, or nothing to write to it. */
async function registryEntry(
  db: Db,
  { evmRegistry }: Config,
  receiptId: string,
): Promise<Statements['evm_registry'] | null> {
  const entry = evmRegistry && (await findEntry(db, receiptId))
  if (!entry) return null
  const { sequence, state, tx, block } = entry
  // The rest of the text is for the admin only.
  const error = entry.error?.split(':')[0] ?? null
  return { contract: evmRegistry.contract, key: registryKey(receiptId), sequence, state, tx, block, error }
}

function link(row: StatementTable, newest: AttestationTable, withEnvelope: boolean): Statements['statements'][number] {
  const { sequence, record, anchor } = row
  const absence = anchorAbsence(row, newest)
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
    ...(absence && { anchor_absence: absence }),
    ...(withEnvelope && { envelope }),
  }
}
