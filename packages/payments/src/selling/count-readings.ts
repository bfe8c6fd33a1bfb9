import { NETWORKS, type Network } from '@svc/api/networks'
import type { Log } from '@svc/service/program/log'
import type { PaymentReader } from '../payment.ts'

const OUTCOMES = ['known', 'unavailable', 'disputed'] as const

/** How many readings had each outcome: the nodes agreed, too few answered, or they contradicted each other. */
export interface ReadingCount {
  network: Network
  outcome: (typeof OUTCOMES)[number]
  count: number
}

/** Wraps readers so that inconclusive readings are counted and logged. */
export function countReadings(
  readerOf: (network: Network) => PaymentReader,
  log: Log,
): { reader: (network: Network) => PaymentReader; counts: () => ReadingCount[] } {
  const counts = NETWORKS.flatMap((network) => OUTCOMES.map((outcome) => ({ network, outcome, count: 0 })))
  const counting = new Map(NETWORKS.map((network) => [network, counted(network)]))

  function counted(network: Network): PaymentReader {
    const { isTransactionId, read } = readerOf(network)
    return {
      isTransactionId,
      async read(tx, destination) {
        const reading = await read(tx, destination)
        const outcome = reading.outcome !== 'unavailable' ? 'known' : reading.isDisputed ? 'disputed' : 'unavailable'
        for (const entry of counts) if (entry.network === network && entry.outcome === outcome) entry.count += 1
        if (reading.outcome === 'unavailable')
          log.warn({ network: network.name, problem: reading.problem }, 'a chain could not be read')
        return reading
      },
    }
  }

  return {
    reader: (network) => counting.get(network) ?? readerOf(network),
    counts: () => counts.map((entry) => ({ ...entry })),
  }
}
