import type { StrangerLimit } from '@svc/http-service/service'
import type { WireRequest } from '@svc/http-service/wire-request'
import { addressKey } from './address-key.ts'
import type { RateLimiter } from './rate-limiter.ts'

/** What an address may ask for without showing a credential. */
export function addressLimit({ clientAddress }: Pick<WireRequest, 'clientAddress'>, perMinute: number) {
  return { key: `address ${addressKey(clientAddress)}`, perMinute }
}

/** The same limit for bodies, which are parsed only while the address is within it. */
export function strangerLimit(rateLimiter: RateLimiter, perMinute: number): StrangerLimit {
  return {
    refuseExhausted: (wire) => rateLimiter.refuseExhausted(addressLimit(wire, perMinute)),
    count: (wire) => rateLimiter.take(addressLimit(wire, perMinute)),
  }
}
