// A stored statement, and the same statement with its current status.

import type { Anchor, AnchorAbsence, AnchorError, Attestation } from '@svc/api/attestations'
import type { AttestationTable, StatementTable } from '../db/schema.ts'

/** The part of an attestation that is written once: everything except the files, the status and the anchor. */
export type StatementRecord = Omit<
  Attestation,
  'files' | 'attestation_status' | 'anchor' | 'last_anchor_error' | 'anchor_absence' | 'receipt_id' | 'locker_id'
>

/** A statement with its current status. */
export interface AttestationRecord {
  receiptId: string
  lockerId: string
  sequence: number
  snapshotKey: string
  record: StatementRecord
  /**
   * An older statement is `complete` if it was published, otherwise `computed`. Null for a published record without a
   * status.
   */
  status: 'computed' | 'pushing' | 'complete' | null
  anchor: Anchor | null
  anchorError: AnchorError | null
  anchorAbsence: AnchorAbsence | null
}

type Current = Pick<AttestationTable, 'sequence' | 'status' | 'anchor_error' | 'deferral'>

export function attestationRecord(statement: StatementTable, current: Current): AttestationRecord {
  const isNewest = statement.sequence === current.sequence
  const record: StatementRecord = JSON.parse(statement.record)
  return {
    receiptId: statement.receipt_id,
    lockerId: statement.locker_id,
    sequence: statement.sequence,
    snapshotKey: statement.snapshot_key,
    record,
    status: isNewest ? statusOf(current) : pastStatus(statement, record),
    anchor: statement.anchor === null ? null : JSON.parse(statement.anchor),
    anchorError: isNewest && current.anchor_error !== null ? JSON.parse(current.anchor_error) : null,
    anchorAbsence: anchorAbsence(statement, current),
  }
}

/** Only the newest statement is published. A record of the oracle era was published elsewhere, if at all. */
export function anchorAbsence(
  { sequence, anchor }: Pick<StatementTable, 'sequence' | 'anchor'>,
  newest: Pick<AttestationTable, 'sequence' | 'deferral'>,
): AnchorAbsence | null {
  if (anchor !== null || sequence === 0 || newest.sequence === null) return null
  if (sequence < newest.sequence) return { reason: 'superseded', superseded_by: newest.sequence }
  return newest.deferral === null ? null : JSON.parse(newest.deferral)
}

/** While a new statement is pending, the previous one can still be read. */
function statusOf({ status }: Current): AttestationRecord['status'] {
  return status === 'pending' ? 'computed' : status
}

function pastStatus({ sequence, anchor }: StatementTable, { oracle_tx }: StatementRecord): AttestationRecord['status'] {
  if (anchor === null && oracle_tx === null) return 'computed'
  return sequence === 0 ? null : 'complete'
}

export interface Attested {
  record: AttestationRecord
  /** False if the existing statement was still current. */
  isNew: boolean
}
