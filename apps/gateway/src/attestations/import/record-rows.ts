import type { StatementRecord } from '../record.ts'
import type { RecordRows } from './keep-record.ts'
import type { ExportRecord } from './read-export.ts'
import type { RebuiltSnapshot } from './rebuild-snapshot.ts'

/** As the statement of sequence 0, before all that have an envelope. */
export function rowsOf(record: ExportRecord, { key, row, chunks }: RebuiltSnapshot): RecordRows {
  const { receipt_id, locker_id, anchor } = record
  return {
    attestation: {
      receipt_id,
      locker_id,
      proof_id: null,
      status: record.attestation_status,
      sequence: 0,
      manifest_version: null,
      attested_at: attestedAt(record),
      status_since: null,
      anchor_error: null,
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
