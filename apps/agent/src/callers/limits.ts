import { addressKey } from '@svc/guard/address-key'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'

/** Work that anybody may ask for, by where it comes from. */
export async function limitStranger({ rateLimiter, config }: Context, { clientAddress }: WireRequest): Promise<void> {
  await rateLimiter.take({ key: `address ${addressKey(clientAddress)}`, perMinute: config.limits.perAddress })
}

export async function limitIdentity({ rateLimiter, config }: Context, identity: string): Promise<void> {
  await rateLimiter.take({ key: `identity ${identity}`, perMinute: config.limits.perIdentity })
}
