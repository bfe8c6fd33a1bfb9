// A statement as it is stored, and as it is read: with its status now.

import type { Anchor, AnchorError, Attestation } from '@svc/api/attestations'
import type { AttestationTable, StatementTable } from '../db/schema.ts'

/** The part of an attestation that is written once: all of it but the files, its status and its anchor. */
export type StatementRecord = Omit<
  Attestation,
  'files' | 'attestation_status' | 'anchor' | 'last_anchor_error' | 'receipt_id' | 'locker_id'
>

/** A statement with its current status. */
export interface AttestationRecord {
  receiptId: string
  lockerId: string
  sequence: number
  snapshotKey: string
  record: StatementRecord
  /** An older statement is `complete` if it was published, else `computed`. Null for a published record without one. */
  status: 'computed' | 'pushing' | 'complete' | null
  anchor: Anchor | null
  anchorError: AnchorError | null
}

type Current = Pick<AttestationTable, 'sequence' | 'status' | 'anchor_error'>

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
  }
}

/** While a new statement is pending, the one before it is still read. */
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
