// Rate limits. A request is counted before its work is done.

import type { Signer } from '@svc/guard/signers'
import { addressLimit } from '@svc/guard/stranger-limit'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'

/**
 * For requests without a credential: limits by client address, and by receipt where one is named. `cost` is capped at
 * the limit itself, so that an expensive request can pass at all.
 */
export async function limitStranger(
  { rateLimiter, config }: Context,
  wire: WireRequest,
  receiptId: string | null,
  cost = 1,
): Promise<void> {
  const { perAddress, perReceipt } = config.limits
  const ofReceipt = receiptId === null ? [] : [{ key: `receipt ${receiptId}`, perMinute: perReceipt }]
  const limits = [addressLimit(wire, perAddress), ...ofReceipt]
  await rateLimiter.take(...limits.map((limit) => ({ ...limit, cost: Math.min(cost, limit.perMinute) })))
}

/** For requests that mint URLs. One call counts once, however many URLs it mints (LIM-11). */
export async function limitSigner({ rateLimiter, config }: Context, { identity }: Signer): Promise<void> {
  await rateLimiter.take({ key: `signer ${identity}`, perMinute: config.limits.perSigner })
}
