// Who may ask how often. Work that costs something is counted before it is done.

import { addressKey } from '@svc/guard/address-key'
import type { Signer } from '@svc/guard/signers'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'

/**
 * Work that anybody may ask for: by where it comes from, and by the receipt it is about. It may count for more than one,
 * but never for more than all there is in a minute.
 */
export async function limitStranger(
  { rateLimiter, config }: Context,
  { clientAddress }: WireRequest,
  receiptId: string | null,
  cost = 1,
): Promise<void> {
  const ask = (key: string, perMinute: number) => ({ key, perMinute, cost: Math.min(cost, perMinute) })
  await rateLimiter.take(
    ask(`address ${addressKey(clientAddress)}`, config.limits.perAddress),
    ...(receiptId === null ? [] : [ask(`receipt ${receiptId}`, config.limits.perReceipt)]),
  )
}

/** Minting URLs; however many at once, one call counts as one (LIM-11). */
export async function limitSigner({ rateLimiter, config }: Context, { identity }: Signer): Promise<void> {
  await rateLimiter.take({ key: `signer ${identity}`, perMinute: config.limits.perSigner })
}
