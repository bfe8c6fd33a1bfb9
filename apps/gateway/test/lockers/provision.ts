// For tests: opening lockers.

import type { ProvisionManifest } from '@svc/api/lockers'
import type { Identity, LockerHouse, SignedCall } from '../auth/lockers.ts'

export const SIGNED_PROVISION = '/v1/storage/signed_provision'
/** Where the envelope may be optional. */
export const PROVISION = '/v1/storage/provision'

/** Asks for the locker of a receipt, signed. */
export function provisionAt(
  house: LockerHouse,
  owner: Identity,
  receiptId: string,
  body: object = {},
  call: Partial<SignedCall> = {},
) {
  return house.call<ProvisionManifest>(owner, {
    method: 'POST',
    path: SIGNED_PROVISION,
    body: { receipt_id: receiptId, ...body },
    ops: ['locker:provision'],
    receiptId,
    ...call,
  })
}
