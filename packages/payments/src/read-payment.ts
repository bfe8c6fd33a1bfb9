import { ChainUnavailable, type NodePool, NodesDisagree, type Question } from './nodes/node-pool.ts'
import type { ChainReading } from './payment.ts'

/**
 * Queries all nodes at once and returns the reading that a quorum of them agrees on. "Not found" requires so many nodes
 * that the others could not form a quorum: a node that failed may be the one that has the transaction, and callers let
 * a quote expire when its transaction is not found.
 */
export async function readPayment<Client>(
  pool: NodePool<Client>,
  read: Question<Client, ChainReading>,
): Promise<ChainReading> {
  try {
    return await pool.agree(read, ({ outcome }) => outcome === 'not_found')
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error
    const problem = error.cause instanceof Error ? error.cause.message : error.message
    return { outcome: 'unavailable', problem, ...(error instanceof NodesDisagree && { isDisputed: true }) }
  }
}
