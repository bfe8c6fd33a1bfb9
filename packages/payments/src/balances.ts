import type { Destination } from './payment.ts'

export interface BalanceReader {
  /** Atomic units that each destination holds, in their order; null where that cannot be had. */
  read(destinations: readonly Destination[]): Promise<readonly (bigint | null)[]>
}

type Ask = (url: string, destinations: readonly Destination[], signal: AbortSignal) => Promise<(bigint | null)[]>

const TIMEOUT_MS = 5_000

/** Asks one node after the other, until one answers. */
export function createBalanceReader(rpcUrls: readonly string[], ask: Ask): BalanceReader {
  return {
    async read(destinations) {
      for (const url of rpcUrls) {
        try {
          return await ask(url, destinations, AbortSignal.timeout(TIMEOUT_MS))
        } catch {
          // the next node may answer
        }
      }
      return destinations.map(() => null)
    },
  }
}
