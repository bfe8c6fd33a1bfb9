// Checks that tokens have the decimals that amounts are computed with. With other decimals a token would be sold for a
// millionth of its price, or for a million times as much.

import type { Network } from '@svc/api/networks'
import type { Leg } from './legs.ts'

/** Reads the decimals of tokens from one chain; null for a token that does not exist. Throws `ChainUnavailable`. */
export type ReadDecimals = (tokens: readonly string[]) => Promise<readonly (number | null)[]>

export interface DecimalsWatch {
  /** The legs whose token has the declared decimals. A leg is missing until the chain has confirmed it. */
  checked(): Promise<ReadonlySet<Leg>>
  /** The reasons why legs are not sold. */
  problems(): ReadonlyMap<Leg, string>
}

const RETRY_AFTER_MS = 5_000

/**
 * Asks immediately, and again every five seconds for legs that are not checked. Callers wait for the first answer only:
 * a node that hangs must not hold up quotes for the other legs.
 */
export function watchDecimals(options: {
  /** Legs of tokens; coins have no contract to ask. */
  legs: readonly Leg[]
  read: (network: Network) => ReadDecimals
  now: () => number
  /** Called once for each leg whose token has other decimals. */
  onWrong: (leg: Leg, problem: string) => void
}): DecimalsWatch {
  const { legs, read, now, onWrong } = options
  const checked = new Set<Leg>()
  const wrong = new Map<Leg, string>()
  let askAgainAt = now() + RETRY_AFTER_MS
  const first = check()

  async function check(): Promise<void> {
    const networks = Map.groupBy(
      legs.filter((leg) => !checked.has(leg)),
      ({ of }) => of.network,
    )
    await Promise.all([...networks].map(([network, ofNetwork]) => checkNetwork(network, ofNetwork)))
  }

  async function checkNetwork(network: Network, ofNetwork: readonly Leg[]): Promise<void> {
    const found = await read(network)(ofNetwork.map(({ asset }) => asset)).catch(() => null)
    if (found) for (const [i, leg] of ofNetwork.entries()) checkDecimals(leg, found[i] ?? null)
  }

  function checkDecimals(leg: Leg, decimals: number | null): void {
    const { ticker, decimals: expected } = leg.of
    if (decimals === expected) {
      checked.add(leg)
      wrong.delete(leg)
      return
    }
    const found = decimals === null ? 'the token does not exist on the chain' : `the chain reports ${decimals}`
    if (!wrong.has(leg)) onWrong(leg, found)
    wrong.set(leg, `${ticker} on ${leg.of.network.name} (${leg.asset}) must have ${expected} decimals, but ${found}`)
  }

  return {
    async checked() {
      await first
      if (checked.size < legs.length && now() >= askAgainAt) {
        askAgainAt = now() + RETRY_AFTER_MS
        void check()
      }
      return checked
    },
    problems() {
      const open = legs.filter((leg) => !checked.has(leg))
      return new Map(open.map((leg) => [leg, wrong.get(leg) ?? unread(leg)]))
    },
  }
}

function unread({ of }: Leg): string {
  return `the decimals of ${of.ticker} on ${of.network.name} could not be read yet`
}
