import { messageDigest } from './history.ts'
import type { WireTransaction } from './wire-transaction.ts'

/** Transactions that nodes have accepted and that are not in a slot yet. */
export function createPool() {
  const waiting = new Map<string, WireTransaction>()
  let since = 0

  return {
    isEmpty: () => waiting.size === 0,
    /** When the oldest one arrived, in milliseconds of the chain's time. */
    since: () => since,
    /** A transaction that is sent twice is in the pool once. */
    add(wire: WireTransaction, time: number) {
      if (waiting.size === 0) since = time
      const digest = messageDigest(wire.bytes)
      if (!waiting.has(digest)) waiting.set(digest, wire)
    },
    /** Removes all of them, and returns them in the order they arrived. */
    take(): WireTransaction[] {
      const all = [...waiting.values()]
      waiting.clear()
      return all
    },
  }
}
