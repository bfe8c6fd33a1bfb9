import { lru } from '@svc/concurrency/caches'
import { singleFlight } from '@svc/concurrency/sharing'

/** Does work that costs much once for all who ask for it within a minute; tells whether it was done before. */
export type Keep<Outcome> = (
  key: string,
  work: () => Promise<Outcome>,
) => Promise<{ outcome: Outcome; wasKept: boolean }>

const KEPT_MS = 60_000
const OUTCOMES_KEPT = 100

/** What is not worth keeping, or too large, is left out. */
export function keepOutcomes<Outcome>(now: () => number, isKept: (outcome: Outcome) => boolean): Keep<Outcome> {
  const kept = lru<string, { outcome: Outcome; at: number }>(OUTCOMES_KEPT)
  const share = singleFlight<Outcome>()
  return async (key, work) => {
    const known = kept.get(key)
    // The distance either way: a clock that was set back must not keep an outcome for ever.
    if (known && Math.abs(now() - known.at) < KEPT_MS) return { outcome: known.outcome, wasKept: true }
    const outcome = await share(key, async () => {
      const done = await work()
      if (isKept(done)) kept.set(key, { outcome: done, at: now() })
      return done
    })
    return { outcome, wasKept: false }
  }
}
