import { addressKey } from '@svc/guard/address-key'
import type { RateLimiter } from '@svc/guard/rate-limiter'
import { ServiceError } from '@svc/http-service/service-error'
import type { WireRequest } from '@svc/http-service/wire-request'
import type { Context } from '../context.ts'

/** Work that anybody may ask for, by where it comes from. */
export async function limitStranger({ rateLimiter, config }: Context, { clientAddress }: WireRequest): Promise<void> {
  await rateLimiter.take({ key: `address ${addressKey(clientAddress)}`, perMinute: config.limits.perAddress })
}

export async function limitIdentity({ rateLimiter, config }: Context, identity: string): Promise<void> {
  await rateLimiter.take({ key: `identity ${identity}`, perMinute: config.limits.perIdentity })
}

/** For work of our own, which can wait: takes what is asked for, and says whether there was enough. */
export async function hasRoom({ rateLimiter }: Context, ...asks: Parameters<RateLimiter['take']>): Promise<boolean> {
  try {
    await rateLimiter.take(...asks)
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return false
    throw error
  }
}
