// A statement as it is kept and as it is read.

import type { Anchor, AnchorError, Attestation } from '@svc/api/attestations'
import type { AttestationTable, StatementTable } from '../db/schema.ts'

/** What of an attestation is written once: all of it but the files, and what becomes of it. */
export type StatementRecord = Omit<
  Attestation,
  'files' | 'attestation_status' | 'anchor' | 'last_anchor_error' | 'receipt_id' | 'locker_id'
>

/** A statement with where it stands now. */
export interface AttestationRecord {
  receiptId: string
  lockerId: string
  sequence: number
  snapshotKey: string
  record: StatementRecord
  /** Of an older statement: `complete` when it was published, else `computed`; null in the oracle era. */
  status: 'computed' | 'pushing' | 'complete' | null
  anchor: Anchor | null
  anchorError: AnchorError | null
}

type Current = Pick<AttestationTable, 'sequence' | 'status' | 'anchor_error'>

export function attestationRecord(statement: StatementTable, current: Current): AttestationRecord {
  const isNewest = statement.sequence === current.sequence
  return {
    receiptId: statement.receipt_id,
    lockerId: statement.locker_id,
    sequence: statement.sequence,
    snapshotKey: statement.snapshot_key,
    record: JSON.parse(statement.record),
    status: isNewest ? statusOf(current) : pastStatus(statement),
    anchor: statement.anchor === null ? null : JSON.parse(statement.anchor),
    anchorError: isNewest && current.anchor_error !== null ? JSON.parse(current.anchor_error) : null,
  }
}

/** A new statement may be pending while the one before it is still what is read. */
function statusOf({ status }: Current): AttestationRecord['status'] {
  return status === 'pending' ? 'computed' : status
}

function pastStatus({ sequence, anchor }: StatementTable): AttestationRecord['status'] {
  if (sequence === 0) return null
  return anchor === null ? 'computed' : 'complete'
}

export interface Attested {
  record: AttestationRecord
  /** False when the statement there was is still right. */
  isNew: boolean
}
