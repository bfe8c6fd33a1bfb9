import type { NodePool } from './nodes/node-pool.ts'
import type { Destination } from './payment.ts'

export interface BalanceReader {
  /** The balance of each destination in atomic units, in their order; null where it cannot be read. */
  read(destinations: readonly Destination[]): Promise<readonly (bigint | null)[]>
}

type Read<Client> = (
  client: Client,
  destinations: readonly Destination[],
  signal: AbortSignal,
) => Promise<(bigint | null)[]>

export function createBalanceReader<Client>(pool: NodePool<Client>, read: Read<Client>): BalanceReader {
  return {
    read: (destinations) =>
      pool.agree((client, signal) => read(client, destinations, signal)).catch(() => destinations.map(() => null)),
  }
}
