// Whether tokens have the decimals that amounts are computed with. A token that has others would be sold for a millionth
// of its price, or for a million times as much.

import type { Network } from '@svc/api/networks'
import type { Leg } from './legs.ts'

/** Reads the decimals of tokens from one chain; null where there is no such token. Throws `ChainUnavailable`. */
export type ReadDecimals = (tokens: readonly string[]) => Promise<readonly (number | null)[]>

export interface DecimalsWatch {
  /** Legs whose token is as we take it to be. A leg is not among them until the chain has said so. */
  checked(): Promise<ReadonlySet<Leg>>
  /** Why legs are not sold. */
  problems(): ReadonlyMap<Leg, string>
}

const RETRY_AFTER_MS = 5_000

/**
 * Asks at once, and again every five seconds for legs that are not checked. Only the first answer is waited for: a node
 * that hangs must not hold up quotes for the other legs.
 */
export function watchDecimals(options: {
  /** Legs of tokens: coins have no contract to ask. */
  legs: readonly Leg[]
  read: (network: Network) => ReadDecimals
  now: () => number
  /** Told once of each leg whose token has other decimals. */
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
    if (found) for (const [i, leg] of ofNetwork.entries()) note(leg, found[i] ?? null)
  }

  function note(leg: Leg, decimals: number | null): void {
    const { ticker, decimals: expected } = leg.of
    if (decimals === expected) {
      checked.add(leg)
      wrong.delete(leg)
      return
    }
    const says = decimals === null ? 'the chain has no such token' : `the chain says ${decimals}`
    if (!wrong.has(leg)) onWrong(leg, says)
    wrong.set(leg, `${ticker} on ${leg.of.network.name} (${leg.asset}) must have ${expected} decimals, but ${says}`)
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
