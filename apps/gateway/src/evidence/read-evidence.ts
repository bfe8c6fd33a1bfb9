import { ServiceError } from '@svc/http-service/service-error'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { notAttested } from '../attestations/errors.ts'
import { type AttestationRecord, attestationRecord } from '../attestations/record.ts'
import type { Context } from '../context.ts'
import { findEvidence, type Standing } from './store.ts'

export interface Evidence {
  receipt: SignedReceipt
  /** Null before the first statement, also while it is being computed. */
  record: AttestationRecord | null
  isPending: boolean
  standing: Standing
}

export type Attested = Evidence & { record: AttestationRecord }

/** What there is about a receipt: its newest statement, or the one asked for. */
export async function readEvidence(context: Context, receiptId: string, sequence?: number): Promise<Evidence> {
  const found = await findEvidence(context.database.db, receiptId, sequence)
  if (!found) throw receiptNotFound()
  const { receipt, standing, statement } = found
  if (!statement && sequence !== undefined) throw statementNotFound(receiptId, sequence)
  return {
    receipt: JSON.parse(receipt),
    record: statement && attestationRecord(statement, standing),
    isPending: !statement && standing.status === 'pending',
    standing,
  }
}

export async function readAttested(context: Context, receiptId: string, sequence?: number): Promise<Attested> {
  const { record, ...evidence } = await readEvidence(context, receiptId, sequence)
  if (!record) throw notAttested(receiptId, evidence)
  return { ...evidence, record }
}

export function receiptNotFound(): ServiceError {
  return new ServiceError('receipt_not_found', 'there is no receipt with this id')
}

function statementNotFound(receiptId: string, sequence: number): ServiceError {
  return new ServiceError('statement_not_found', `this receipt has no statement ${sequence}`, {
    hint: `see GET /v1/storage/statements?receipt_id=${encodeURIComponent(receiptId)} for those it has`,
  })
}
