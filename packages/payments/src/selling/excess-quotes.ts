// Anyone may request quotes. Quotes that are unpaid and can no longer be confirmed are stored for a while, to settle
// payments by hand, but only up to a limit (T-140).

import { setImmediate as nextTurn } from 'node:timers/promises'

export const MAX_UNPAID_QUOTES = 1_000_000
/** The number of quotes that one query counts. */
const COUNTED = 10_000

/** When the n-th newest quote ended, of those that ended before `before`; null when there are fewer. */
type NthEndBefore = (before: number, n: number) => Promise<number | null>

/** The time before which ended quotes exceed `maxStored`; 0 when they do not exceed it. Paid quotes count, too. */
export async function findExcessCutoff(nthEndBefore: NthEndBefore, before: number, maxStored: number): Promise<number> {
  let end = before
  for (let counted = 0; counted < maxStored; counted += COUNTED) {
    const next = await nthEndBefore(end, Math.min(COUNTED, maxStored - counted))
    if (next === null) return 0
    end = next
    await nextTurn()
  }
  return end
}
