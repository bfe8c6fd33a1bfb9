import { isoSeconds } from '@svc/protocol/evidence'
import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { receiptIsRenewal } from '../auth/errors.ts'
import type { RecordDocuments } from '../continuity/document-id.ts'
import type { Locker, PayRequestTable, Tx } from '../db/schema.ts'
import { NEW_ACCESS } from './access.ts'
import { countLocker, findLockerOfReceipt, insertLocker, uncountLocker } from './store.ts'
import { endOf, quotedTerms } from './terms.ts'

export interface LockerOrder {
  receipt: SignedReceipt
  /** The paid quote. */
  request: Pick<PayRequestTable, 'provider' | 'quote'>
  tags: readonly string[]
  /** Unix seconds. */
  createdAt: number
  maxPerOwner: number
}

export type LockerCreation =
  | { outcome: 'created' | 'existing'; locker: Locker }
  | { outcome: 'refused'; refusal: ServiceError }

/**
 * Creates the locker of a receipt, or finds the existing one. A refusal is a value and changes nothing, so that the
 * caller's transaction can still commit: a receipt is paid for even if its owner has too many lockers.
 */
export async function createLocker(
  tx: Tx,
  recordDocuments: RecordDocuments,
  order: LockerOrder,
): Promise<LockerCreation> {
  const { receipt_id, payer_pubkey: owner, extends: renewed } = order.receipt
  if (renewed !== undefined) return { outcome: 'refused', refusal: receiptIsRenewal(renewed) }
  const existing = await findLockerOfReceipt(tx, receipt_id)
  if (existing) return { outcome: 'existing', locker: existing }
  const locker = newLocker(order)
  // Counting first locks the owner's row, which serializes the creation of an owner's lockers.
  const isCounted = await countLocker(tx, owner, order.maxPerOwner)
  if (isCounted && (await insertLocker(tx, locker))) {
    recordDocuments({ kind: 'locker', key: locker.locker_id })
    return { outcome: 'created', locker }
  }
  if (isCounted) await uncountLocker(tx, owner)
  const concurrent = await findLockerOfReceipt(tx, receipt_id)
  if (concurrent) return { outcome: 'existing', locker: concurrent }
  return { outcome: 'refused', refusal: isCounted ? idTaken(order) : limitReached(order) }
}

function newLocker({ receipt, request, tags, createdAt }: LockerOrder): Locker {
  const terms = quotedTerms(request)
  return {
    locker_id: lockerId(receipt.receipt_id),
    receipt_id: receipt.receipt_id,
    owner: receipt.payer_pubkey,
    network: receipt.network,
    provider: request.provider,
    tags: JSON.stringify(tags),
    terms: JSON.stringify(terms),
    created_at: isoSeconds(createdAt),
    expires_at: endOf(createdAt, terms.ttl_days * 86_400),
    anchoring: 'each',
    manifest_version: 0,
    manifest_changed_at: null,
    file_count: 0,
    total_bytes: 0,
    unconfirmed_bytes: 0,
    delivered_bytes: 0,
    ...NEW_ACCESS,
  }
}

/** An x402 buyer sends tags with the order. */
export function tagsOf(quote: string): string[] {
  return JSON.parse(quote).extensions.svc.tags ?? []
}

function limitReached({ receipt, maxPerOwner }: LockerOrder): ServiceError {
  return new ServiceError('LOCKER_LIMIT_EXCEEDED', `this owner has ${maxPerOwner} lockers, which is the limit`, {
    hint: "the receipt remains valid: ask the gateway's admin for a higher limit, then provision with it",
    details: { receipt_id: receipt.receipt_id, limit: maxPerOwner },
  })
}

function idTaken({ receipt }: LockerOrder): ServiceError {
  return new ServiceError('LOCKER_ID_COLLISION', 'another locker already has the locker id of this receipt', {
    hint: "the receipt remains valid: contact the gateway's admin",
    details: { receipt_id: receipt.receipt_id },
  })
}
