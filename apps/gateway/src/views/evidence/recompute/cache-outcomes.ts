import { lru } from '@svc/concurrency/caches'
import { singleFlight } from '@svc/concurrency/sharing'

/** Does expensive work once for all requests within a minute. `cached` reports whether the outcome is reused. */
export type CacheOutcome<Outcome> = (
  key: string,
  work: () => Promise<Outcome>,
) => Promise<{ outcome: Outcome; cached: boolean }>

const CACHED_MS = 60_000
const MAX_CACHED = 100

/** `isCacheable` excludes outcomes that are too large or that should be retried. */
export function cacheOutcomes<Outcome>(
  now: () => number,
  isCacheable: (outcome: Outcome) => boolean,
): CacheOutcome<Outcome> {
  const cache = lru<string, { outcome: Outcome; at: number }>(MAX_CACHED)
  const share = singleFlight<Outcome>()
  return async (key, work) => {
    const known = cache.get(key)
    // The absolute difference, because the clock may be set back.
    if (known && Math.abs(now() - known.at) < CACHED_MS) return { outcome: known.outcome, cached: true }
    const outcome = await share(key, async () => {
      const done = await work()
      if (isCacheable(done)) cache.set(key, { outcome: done, at: now() })
      return done
    })
    return { outcome, cached: false }
  }
}
