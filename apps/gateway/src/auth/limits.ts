// Rate limits. A request is counted before its work is done.

import { addressKey } from '@svc/service/guard/address-key'
import type { Signer } from '@svc/service/guard/signers'
import type { WireRequest } from '@svc/service/http/wire-request'
import type { Context } from '../context.ts'

/**
 * For requests without a credential: limits by client address, and by receipt if one is named. `cost` is capped at the
 * limit itself, so that an expensive request can still pass.
 */
export async function limitAnonymous(
  { rateLimiter, config }: Context,
  { clientAddress }: WireRequest,
  receiptId: string | null,
  cost = 1,
): Promise<void> {
  const limit = (key: string, perMinute: number) => ({ key, perMinute, cost: Math.min(cost, perMinute) })
  await rateLimiter.take(
    limit(`address ${addressKey(clientAddress)}`, config.limits.perAddress),
    ...(receiptId === null ? [] : [limit(`receipt ${receiptId}`, config.limits.perReceipt)]),
  )
}

/** For requests that create URLs. One call counts once, however many URLs it creates (LIM-11). */
export async function limitSigner({ rateLimiter, config }: Context, { identity }: Signer): Promise<void> {
  await rateLimiter.take({ key: `signer ${identity}`, perMinute: config.limits.perSigner })
}
