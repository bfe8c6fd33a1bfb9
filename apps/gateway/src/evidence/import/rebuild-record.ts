// Turns an exported record into the rows of a statement: rebuilds the snapshot of its files and compares the record
// with it.

import type { AttestationTable, SnapshotChunkTable, SnapshotTable, StatementTable } from '../../db/schema.ts'
import type { StatementRecord } from '../record.ts'
import { type BuiltSnapshot, createSnapshotBuilder } from '../snapshots/build-snapshot.ts'
import { fileRowsOf } from '../snapshots/chunk-content.ts'
import { createChunkCutter } from '../snapshots/cut-chunks.ts'
import type { ExportRecord } from './read-export.ts'

export interface RebuiltSnapshot extends BuiltSnapshot {
  /** To be stored before the snapshot, one batch after the other. */
  chunks: (readonly SnapshotChunkTable[])[]
}

/** The snapshot of the files that a record lists. Its chunks are not stored yet, because the record may be wrong. */
export async function rebuildSnapshot(record: ExportRecord, borderKey: string): Promise<RebuiltSnapshot> {
  const chunks: RebuiltSnapshot['chunks'] = []
  const builder = createSnapshotBuilder(record.locker_id, async (batch) => {
    if (batch.length > 0) chunks.push(batch)
  })
  const cutter = createChunkCutter(borderKey)
  await builder.add(cutter.cut(fileRowsOf(record.files)))
  await builder.add(cutter.end())
  const built = await builder.end()
  if (!built) throw new Error('the record has no files')
  return { ...built, chunks }
}

/** Where the record contradicts its files, or null (MERK-09, 10, 13). */
export function contradiction(record: ExportRecord, rebuilt: BuiltSnapshot): string | null {
  if (record.file_count !== rebuilt.fileCount) return `file_count: the number of files is ${rebuilt.fileCount}`
  if (BigInt(record.total_bytes) !== rebuilt.totalBytes) return `total_bytes: the files have ${rebuilt.totalBytes}`
  if (record.merkle_root !== rebuilt.merkleRoot) return `merkle_root: the files have ${rebuilt.merkleRoot}`
  if (record.result_hash !== rebuilt.resultHash) return `result_hash: the files have ${rebuilt.resultHash}`
  return null
}

export interface RecordRows {
  attestation: AttestationTable
  statement: StatementTable
  snapshot: SnapshotTable
  chunks: (readonly SnapshotChunkTable[])[]
}

/** An imported record becomes the statement with sequence 0. Statements with an envelope follow. */
export function rowsOf(record: ExportRecord, { key, row, chunks }: RebuiltSnapshot): RecordRows {
  const { receipt_id, locker_id, anchor } = record
  return {
    attestation: {
      receipt_id,
      locker_id,
      proof_id: null,
      status: record.attestation_status ?? (isPublished(record) ? null : 'computed'),
      sequence: 0,
      manifest_version: null,
      attested_at: attestedAt(record),
      status_since: null,
      anchor_error: null,
      deferral: null,
      push_at: null,
      whole_budget_at: null,
      lost_sequence: null,
      lost_digest: null,
    },
    statement: {
      receipt_id,
      sequence: 0,
      locker_id,
      snapshot_key: key,
      statement_digest: null,
      record: JSON.stringify(statementRecord(record)),
      anchor: anchor && JSON.stringify(anchor),
      issued_at: attestedAt(record),
    },
    snapshot: row,
    chunks,
  }
}

/** Without a status, the transaction decides whether a record is final (STATE-14). */
function isPublished({ anchor, oracle_tx }: ExportRecord): boolean {
  return anchor !== null || oracle_tx !== null
}

/** Unix seconds. */
export function attestedAt({ attested_at }: ExportRecord): number {
  return Math.floor(Date.parse(attested_at) / 1000)
}

function statementRecord(record: ExportRecord): StatementRecord {
  const { result_hash, merkle_root, manifest_signature, file_count, total_bytes } = record
  const { attested_at, schema_version, oracle_slot, oracle_tx, oracle_feed } = record
  return {
    result_hash,
    merkle_root,
    manifest_signature,
    file_count,
    total_bytes,
    attested_at,
    schema_version,
    oracle_slot,
    oracle_tx,
    oracle_feed,
  }
}
