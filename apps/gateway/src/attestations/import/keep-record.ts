// Writing a record down, once. What is there is never changed.

import { isDeepStrictEqual } from 'node:util'
import type { AttestationTable, Db, SnapshotChunkTable, SnapshotTable, StatementTable } from '../../db/schema.ts'
import { insertSnapshot, storeChunks } from '../snapshots/store.ts'
import { findAttestation, findRecord, insertStatement } from '../store.ts'
import { insertAttestation } from './store.ts'

export interface RecordRows {
  attestation: AttestationTable
  statement: StatementTable
  snapshot: SnapshotTable
  chunks: (readonly SnapshotChunkTable[])[]
}

type Kept = { outcome: 'imported' | 'exists' } | { outcome: 'differs'; problem: string }
export type KeepRecord = (rows: RecordRows) => Promise<Kept>

export function keepIn(db: Db): KeepRecord {
  return async function keep(rows) {
    const before = await compareWithKept(db, rows)
    if (before) return before
    for (const stretch of rows.chunks) await storeChunks(db, stretch)
    const isInserted = await db.transaction().execute(async (tx) => {
      if (!(await insertAttestation(tx, rows.attestation))) return false
      await insertSnapshot(tx, rows.snapshot)
      await insertStatement(tx, rows.statement)
      return true
    })
    if (isInserted) return { outcome: 'imported' }
    // Somebody else came first. A pending stub may be gone again by now.
    return keep(rows)
  }
}

/** The same outcomes, and nothing written. */
export function rehearse(db: Db): KeepRecord {
  const rehearsed = new Map<string, Content>()
  return async (rows) => {
    const { receipt_id } = rows.statement
    const content = contentOf(rows.statement)
    const earlier = rehearsed.get(receipt_id)
    if (earlier) return compared(content, earlier)
    const before = await compareWithKept(db, rows)
    if (before) return before
    rehearsed.set(receipt_id, content)
    return { outcome: 'imported' }
  }
}

/** Null when the receipt has no record. */
async function compareWithKept(db: Db, { statement }: RecordRows): Promise<Kept | null> {
  const current = await findAttestation(db, statement.receipt_id)
  if (!current) return null
  const kept = await findRecord(db, statement.receipt_id, statement.sequence)
  if (kept) return compared(contentOf(statement), kept)
  const problem = current.sequence === null ? 'an attestation is pending' : 'it has been attested here since'
  return { outcome: 'differs', problem: `the receipt has no record of the oracle era here, but ${problem}` }
}

interface Content {
  snapshotKey: string
  record: unknown
  anchor: unknown
}

/** What is written once. Where the record stands may have moved on. */
function contentOf({ snapshot_key, record, anchor }: StatementTable): Content {
  return { snapshotKey: snapshot_key, record: JSON.parse(record), anchor: anchor === null ? null : JSON.parse(anchor) }
}

function compared(content: Content, { snapshotKey, record, anchor }: Content): Kept {
  if (isDeepStrictEqual(content, { snapshotKey, record, anchor })) return { outcome: 'exists' }
  return { outcome: 'differs', problem: 'the receipt has another record' }
}
