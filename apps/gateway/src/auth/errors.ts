// What is not there, for every room that looks for receipts and lockers.

import { ServiceError } from '@svc/http-service/service-error'

export function receiptNotFound(): ServiceError {
  return new ServiceError('receipt_not_found', 'there is no receipt with this id', {
    hint: 'use the receipt_id of a confirmation, to the letter; only the gateway that sold it knows it',
  })
}

export function lockerNotFound(): ServiceError {
  return new ServiceError('locker_not_found', 'there is no such locker', {
    hint: 'check the locker_id and the gateway; POST /v1/storage/signed_provision opens the locker of a receipt',
  })
}

/** Only for callers who name the receipt. */
export function lockerNotOpen(): ServiceError {
  return new ServiceError('locker_not_found', 'the receipt is good, but its locker is not open yet', {
    hint: 'open it with POST /v1/storage/signed_provision, signed with the key that paid; then repeat the request',
    details: { reason: 'not_provisioned' },
  })
}
