import type { BadBodyLimit } from '../http/service.ts'
import type { WireRequest } from '../http/wire-request.ts'
import { addressKey } from './address-key.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** Limits the unusable bodies that an address may send per minute. Operations count the usable ones. */
export function badBodyLimit(rateLimiter: RateLimiter, perMinute: number): BadBodyLimit {
  const limitOf = ({ clientAddress }: WireRequest) => ({ key: `bad bodies ${addressKey(clientAddress)}`, perMinute })
  return {
    refuseExhausted: (wire) => rateLimiter.refuseExhausted(limitOf(wire)),
    count: (wire) => rateLimiter.take(limitOf(wire)),
  }
}
