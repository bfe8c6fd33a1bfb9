// What is not there, for every room that looks for receipts and lockers.

import { lockerId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import type { Continuity } from '../continuity/continuity.ts'

/** `continuity` where receipts are read: what changes something is refused while the database is behind. */
export function receiptNotFound(continuity?: Pick<Continuity, 'status'>): ServiceError {
  return new ServiceError('receipt_not_found', 'no receipt has this id', { hint: hintFor(continuity) })
}

function hintFor(continuity: Pick<Continuity, 'status'> | undefined): string {
  return continuity?.status().state === 'behind'
    ? 'the database was restored and may lack it: try again later; do not pay again'
    : 'use the receipt_id of a confirmation, to the letter; only the gateway that sold it knows it'
}

export function lockerNotFound(): ServiceError {
  return new ServiceError('locker_not_found', 'there is no such locker', {
    hint: 'check the locker_id and the gateway; POST /v1/storage/signed_provision opens the locker of a receipt',
  })
}

/** Where something is shown that opens no locker of its own. Who shows it may know which locker it extends. */
export function receiptIsRenewal(extended: string, hint = 'use the locker in details: it is open'): ServiceError {
  const locker_id = lockerId(extended)
  return new ServiceError('receipt_is_renewal', `this is a renewal of ${locker_id}, and has no locker of its own`, {
    hint,
    details: { locker_id, receipt_id: extended },
  })
}

/** For a receipt that has no locker. Only for callers who name the receipt. */
export function lockerNotOpen({ extends: extended }: SignedReceipt): ServiceError {
  if (extended !== undefined) return receiptIsRenewal(extended)
  return new ServiceError('locker_not_found', 'the receipt is good, but its locker is not open yet', {
    hint: 'open it with POST /v1/storage/signed_provision, signed with the key that paid; then repeat the request',
    details: { reason: 'not_provisioned' },
  })
}
