import type { RateLimiter } from '@svc/guard/rate-limiter'
import { ServiceError } from '@svc/http-service/service-error'

/** For the service's own work, which can wait: takes from the limits and returns whether there was enough. */
export async function isWithinLimits(
  rateLimiter: RateLimiter,
  ...limits: Parameters<RateLimiter['take']>
): Promise<boolean> {
  try {
    await rateLimiter.take(...limits)
    return true
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'RATE_LIMITED') return false
    throw error
  }
}
