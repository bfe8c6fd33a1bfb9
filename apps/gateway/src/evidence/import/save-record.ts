// Saves an imported record, once. An existing record is never changed.

import { isDeepStrictEqual } from 'node:util'
import type { Database } from '@svc/database/open'
import type { Db, Schema, StatementTable } from '../../db/schema.ts'
import { insertSnapshot, storeChunks } from '../snapshots/store.ts'
import { findAttestation, findRecord, insertAttestation, insertStatement } from '../store.ts'
import type { RecordRows } from './rebuild-record.ts'

type Saved = { outcome: 'imported' | 'exists' } | { outcome: 'differs'; problem: string }
export type SaveRecord = (rows: RecordRows) => Promise<Saved>

export function createSave({ db, commit }: Pick<Database<Schema>, 'db' | 'commit'>): SaveRecord {
  return async function save(rows) {
    const before = await compareWithSaved(db, rows)
    if (before) return before
    for (const batch of rows.chunks) await commit((tx) => storeChunks(tx, batch))
    const isInserted = await commit(async (tx) => {
      if (!(await insertAttestation(tx, rows.attestation))) return false
      await insertSnapshot(tx, rows.snapshot)
      await insertStatement(tx, rows.statement)
      return true
    })
    if (isInserted) return { outcome: 'imported' }
    // Another writer was first. Its pending stub, if it wrote one, may already be gone.
    return save(rows)
  }
}

/** Has the same outcomes but writes nothing. */
export function createDryRun(db: Db): SaveRecord {
  const known = new Map<string, Content>()
  return async (rows) => {
    const { receipt_id } = rows.statement
    const content = contentOf(rows.statement)
    const earlier = known.get(receipt_id)
    if (earlier) return compared(content, earlier)
    const before = await compareWithSaved(db, rows)
    if (before) return before
    known.set(receipt_id, content)
    return { outcome: 'imported' }
  }
}

/** Returns null if the receipt has no record. */
async function compareWithSaved(db: Db, { statement }: RecordRows): Promise<Saved | null> {
  const current = await findAttestation(db, statement.receipt_id)
  if (!current) return null
  const saved = await findRecord(db, statement.receipt_id, statement.sequence)
  if (saved) return compared(contentOf(statement), saved)
  const problem = current.sequence === null ? 'an attestation is pending' : 'it has since been attested here'
  return { outcome: 'differs', problem: `the receipt has no record of the oracle era here, but ${problem}` }
}

interface Content {
  snapshotKey: string
  record: unknown
  anchor: unknown
}

/** The part that is written once. The status may have changed since. */
function contentOf({ snapshot_key, record, anchor }: StatementTable): Content {
  return { snapshotKey: snapshot_key, record: JSON.parse(record), anchor: anchor === null ? null : JSON.parse(anchor) }
}

function compared(content: Content, { snapshotKey, record, anchor }: Content): Saved {
  if (isDeepStrictEqual(content, { snapshotKey, record, anchor })) return { outcome: 'exists' }
  return { outcome: 'differs', problem: 'the receipt has another record' }
}
