import { isManifestSignedBy, isUnsigned } from '@svc/protocol/attestation'
import { lockerId } from '@svc/protocol/ids'
import type { Ed25519Verifier } from '@svc/protocol/keys'
import type { Db } from '../../db/schema.ts'
import { type KeepRecord, keepIn, rehearse } from './keep-record.ts'
import type { ExportEntry, ExportRecord } from './read-export.ts'
import { contradiction, rebuildSnapshot } from './rebuild-snapshot.ts'
import { attestedAt, rowsOf } from './record-rows.ts'
import { hasReceipt, readBorderKey } from './store.ts'

export interface ImportContext {
  db: Db
  /** The keys by which reads check what was signed at a time. */
  keysAt: (unixSeconds: number) => Promise<ReadonlyMap<string, Ed25519Verifier>>
  /** Unix milliseconds. */
  now: () => number
}

type RefusalReason = 'malformed' | 'wrong_locker' | 'unknown_receipt' | 'mismatch' | 'differs'

export interface Remark {
  /** Where the record stands in the export. */
  at: string
  /** Names the record without opening its files, as the receipt's id would; null where it cannot be read. */
  lockerId: string | null
  problem: string
}

export interface ImportReport {
  imported: number
  existing: number
  refused: (Remark & { reason: RefusalReason })[]
  /** Imported or there already, with a signature that cannot be checked here. */
  unverified: Remark[]
}

type Outcome = { outcome: 'imported' | 'exists' } | { outcome: 'refused'; reason: RefusalReason; problem: string }

/** Each record by itself: a bad one is refused, and those before it stay whatever happens. */
export async function importRecords(
  context: ImportContext,
  entries: AsyncIterable<ExportEntry> | Iterable<ExportEntry>,
  { isDryRun = false }: { isDryRun?: boolean } = {},
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, existing: 0, refused: [], unverified: [] }
  const keep = isDryRun ? rehearse(context.db) : keepIn(context.db)
  const borderKey = await readBorderKey(context.db)
  for await (const entry of entries) {
    const { at } = entry
    if ('problem' in entry) {
      report.refused.push({ at, lockerId: null, reason: 'malformed', problem: entry.problem })
      continue
    }
    const { record } = entry
    const remark = { at, lockerId: record.locker_id }
    const result = await importRecord(context, record, borderKey, keep)
    if (result.outcome === 'refused') {
      report.refused.push({ ...remark, reason: result.reason, problem: result.problem })
      continue
    }
    if (result.outcome === 'imported') report.imported++
    else report.existing++
    const doubt = await signatureDoubt(context, record)
    if (doubt) report.unverified.push({ ...remark, problem: doubt })
  }
  return report
}

async function importRecord(
  { db, now }: ImportContext,
  record: ExportRecord,
  borderKey: string,
  keep: KeepRecord,
): Promise<Outcome> {
  if (Date.parse(record.attested_at) > now()) return refused('malformed', 'attested_at: lies in the future')
  if (record.locker_id !== lockerId(record.receipt_id)) return refused('wrong_locker', 'locker_id: not of this receipt')
  if (!(await hasReceipt(db, record.receipt_id))) return refused('unknown_receipt', 'receipt_id: not of this gateway')
  const rebuilt = await rebuildSnapshot(record, borderKey)
  const problem = contradiction(record, rebuilt)
  if (problem) return refused('mismatch', problem)
  const kept = await keep(rowsOf(record, rebuilt))
  return kept.outcome === 'differs' ? refused('differs', kept.problem) : kept
}

function refused(reason: RefusalReason, problem: string): Outcome {
  return { outcome: 'refused', reason, problem }
}

/** No reason to refuse: reads say of the signature what they can. Null when they will find it right. */
async function signatureDoubt({ keysAt }: ImportContext, record: ExportRecord): Promise<string | null> {
  if (isUnsigned(record.manifest_signature)) return 'it is unsigned'
  const keys = [...(await keysAt(attestedAt(record))).values()]
  const isSigned = keys.some((key) => isManifestSignedBy(key, record.merkle_root, record.manifest_signature))
  return isSigned ? null : 'no key that this gateway has from that time has signed it'
}
