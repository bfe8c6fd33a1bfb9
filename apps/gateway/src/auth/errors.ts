// Errors for missing receipts and lockers, shared by all modules.

import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import type { Continuity } from '../continuity/continuity.ts'

/** Pass `continuity` where receipts are read: writes are rejected while the database is behind. */
export function receiptNotFound(continuity?: Pick<Continuity, 'status'>): ServiceError {
  return new ServiceError('receipt_not_found', 'no receipt has this id', { hint: hintFor(continuity) })
}

function hintFor(continuity: Pick<Continuity, 'status'> | undefined): string {
  return continuity?.status().state === 'behind'
    ? 'the database was restored and may not contain it yet: try again later; do not pay again'
    : 'use the exact receipt_id of a confirmation, at the gateway that issued it'
}

export function lockerNotFound(): ServiceError {
  return new ServiceError('locker_not_found', 'no locker has this id', {
    hint: 'check the locker_id and the gateway; POST /v1/storage/signed_provision opens the locker of a receipt',
  })
}

/** For a receipt that renews a locker and opens none. A caller who has it may learn which locker it extends. */
export function receiptIsRenewal(extended: string, hint = 'use the locker in details, which is open'): ServiceError {
  const locker_id = lockerId(extended)
  return new ServiceError('receipt_is_renewal', `this receipt renews ${locker_id} and has no locker of its own`, {
    hint,
    details: { locker_id, receipt_id: extended },
  })
}

/** For a receipt without a locker. Only for callers who name the receipt. */
export function lockerNotOpen({ extends: extended }: SignedReceipt): ServiceError {
  if (extended !== undefined) return receiptIsRenewal(extended)
  return new ServiceError('locker_not_found', 'the receipt is valid, but its locker is not open yet', {
    hint: 'open it with POST /v1/storage/signed_provision, signed with the key that paid; then repeat the request',
    details: { reason: 'not_provisioned' },
  })
}
