import type { Database } from '@svc/database/open'
import { isManifestSignedBy, isUnsigned } from '@svc/protocol/attestation'
import { lockerId } from '@svc/protocol/ids'
import type { Ed25519Verifier } from '@svc/protocol/keys'
import { findReceiptAndLocker } from '../../auth/store.ts'
import type { Schema } from '../../db/schema.ts'
import { readBorderKey } from '../snapshots/store.ts'
import type { ExportEntry, ExportRecord } from './read-export.ts'
import { attestedAt, contradiction, rebuildSnapshot, rowsOf } from './rebuild-record.ts'
import { createDryRun, createSave, type SaveRecord } from './save-record.ts'

interface StatementKey {
  verifier: Ed25519Verifier
  /** Null for a key that is not revoked. */
  revokedSince: number | null
}

export interface ImportContext {
  database: Pick<Database<Schema>, 'db' | 'commit'>
  /** The statement keys that were valid at a time. */
  keysAt: (unixSeconds: number) => Promise<ReadonlyMap<string, StatementKey>>
  /** Unix milliseconds. */
  now: () => number
}

type RefusalReason = 'malformed' | 'wrong_locker' | 'unknown_receipt' | 'mismatch' | 'differs'

export interface Remark {
  /** The record's position in the export. */
  at: string
  /** Identifies the record without granting access to its files, as the receipt id would. Null if it is unreadable. */
  lockerId: string | null
  problem: string
}

export interface ImportReport {
  imported: number
  existing: number
  refused: (Remark & { reason: RefusalReason })[]
  /** Imported or existing records whose signature cannot be verified here. */
  unverified: Remark[]
}

type Outcome = { outcome: 'imported' | 'exists' } | { outcome: 'refused'; reason: RefusalReason; problem: string }

/** Imports each record independently: a bad one is refused and affects no other. */
export async function importRecords(
  context: ImportContext,
  entries: AsyncIterable<ExportEntry> | Iterable<ExportEntry>,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, existing: 0, refused: [], unverified: [] }
  const { db } = context.database
  const save = isDryRun ? createDryRun(db) : createSave(context.database)
  const borderKey = await readBorderKey(db)
  for await (const entry of entries) {
    const { at } = entry
    if ('problem' in entry) {
      report.refused.push({ at, lockerId: null, reason: 'malformed', problem: entry.problem })
      continue
    }
    const { record } = entry
    const remark = { at, lockerId: record.locker_id }
    const result = await importRecord(context, record, borderKey, save)
    if (result.outcome === 'refused') {
      report.refused.push({ ...remark, reason: result.reason, problem: result.problem })
      continue
    }
    if (result.outcome === 'imported') report.imported++
    else report.existing++
    const signature = await signatureProblem(context, record)
    if (signature) report.unverified.push({ ...remark, problem: signature })
  }
  return report
}

async function importRecord(
  { database: { db }, now }: ImportContext,
  record: ExportRecord,
  borderKey: string,
  save: SaveRecord,
): Promise<Outcome> {
  if (Date.parse(record.attested_at) > now()) return refused('malformed', 'attested_at: is in the future')
  if (record.locker_id !== lockerId(record.receipt_id))
    return refused('wrong_locker', 'locker_id: does not belong to this receipt')
  if (!(await findReceiptAndLocker(db, record.receipt_id)))
    return refused('unknown_receipt', 'receipt_id: is not a receipt of this gateway')
  const rebuilt = await rebuildSnapshot(record, borderKey)
  const problem = contradiction(record, rebuilt)
  if (problem) return refused('mismatch', problem)
  const saved = await save(rowsOf(record, rebuilt))
  return saved.outcome === 'differs' ? refused('differs', saved.problem) : saved
}

function refused(reason: RefusalReason, problem: string): Outcome {
  return { outcome: 'refused', reason, problem }
}

/**
 * Records with a doubtful signature are imported, because readers see that it is not valid. Returns null if it is
 * valid.
 */
async function signatureProblem({ keysAt }: ImportContext, record: ExportRecord): Promise<string | null> {
  if (isUnsigned(record.manifest_signature)) return 'it is unsigned'
  const keys = [...(await keysAt(attestedAt(record))).values()].filter(({ revokedSince }) => revokedSince === null)
  const { merkle_root, manifest_signature } = record
  const isSigned = keys.some(({ verifier }) => isManifestSignedBy(verifier, merkle_root, manifest_signature))
  return isSigned ? null : 'no key that this gateway used at that time has signed it'
}
