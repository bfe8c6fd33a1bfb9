// Anybody may ask for quotes. Those that nobody paid and nobody can confirm any more are kept for a while, to settle
// payments by hand, but not in any number (T-140).

import { setImmediate as nextTurn } from 'node:timers/promises'

export const MAX_UNPAID_QUOTES = 1_000_000
/** Quotes that one query counts. */
const COUNTED = 10_000

/** When the n-th newest of the quotes ended that ended before then; null where there are fewer. */
type NthEndBefore = (before: number, n: number) => Promise<number | null>

/** All that ended before that are too many; 0 where none are. Paid quotes count, too. */
export async function endOfTooMany(nthEndBefore: NthEndBefore, before: number, maxKept: number): Promise<number> {
  let end = before
  for (let counted = 0; counted < maxKept; counted += COUNTED) {
    const next = await nthEndBefore(end, Math.min(COUNTED, maxKept - counted))
    if (next === null) return 0
    end = next
    await nextTurn()
  }
  return end
}
