import { messageDigest } from './history.ts'
import type { WireTransaction } from './wire-transaction.ts'

/** Transactions that nodes have taken and that are in no slot yet. */
export function createPool() {
  const waiting = new Map<string, WireTransaction>()
  let since = 0

  return {
    isEmpty: () => waiting.size === 0,
    /** When the oldest came; the time of the chain in milliseconds. */
    since: () => since,
    /** A transaction that is sent again waits once. */
    add(wire: WireTransaction, time: number) {
      if (waiting.size === 0) since = time
      const digest = messageDigest(wire.bytes)
      if (!waiting.has(digest)) waiting.set(digest, wire)
    },
    /** All of them, in the order they came. */
    take(): WireTransaction[] {
      const all = [...waiting.values()]
      waiting.clear()
      return all
    },
  }
}
