import type { BadBodyLimit } from '../http/service.ts'
import type { WireRequest } from '../http/wire-request.ts'
import { addressKey } from './address-key.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** How many bodies that cannot be used an address may send a minute. Bodies that can are counted by their operation. */
export function badBodyLimit(rateLimiter: RateLimiter, perMinute: number): BadBodyLimit {
  const limitOf = ({ clientAddress }: WireRequest) => ({ key: `bad bodies ${addressKey(clientAddress)}`, perMinute })
  return {
    refuseExhausted: (wire) => rateLimiter.refuseExhausted(limitOf(wire)),
    count: (wire) => rateLimiter.take(limitOf(wire)),
  }
}
