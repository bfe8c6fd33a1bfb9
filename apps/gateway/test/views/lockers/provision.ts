// Provisioning requests for tests.

import type { ProvisionManifest } from '@svc/api/lockers'
import type { Identity, SignedCall, TestGateway } from '@svc/devnet/services/test-gateway'

export const SIGNED_PROVISION = '/v1/storage/signed_provision'
/** The path that accepts requests without an envelope where the gateway allows them. */
export const PROVISION = '/v1/storage/provision'

/** Opens the locker of a receipt by a signed request. */
export function provisionAt(
  instance: TestGateway,
  owner: Identity,
  receiptId: string,
  body: object = {},
  call: Partial<SignedCall> = {},
) {
  return instance.call<ProvisionManifest>(owner, {
    method: 'POST',
    path: SIGNED_PROVISION,
    body: { receipt_id: receiptId, ...body },
    ops: ['locker:provision'],
    receiptId,
    ...call,
  })
}
