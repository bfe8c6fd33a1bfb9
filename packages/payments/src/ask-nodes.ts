import type { ChainReading, Destination } from './payment.ts'

/** What a node said that keeps us from believing it. The text goes to the log: it must not quote the node's address. */
export class NodeProblem extends Error {
  override name = 'NodeProblem'
}

/** One node, with what its chain family knows about asking. Both questions throw at anything unexpected. */
export interface ChainNode {
  /** Where several are configured, which one this is; a host name, since paths and queries carry keys. */
  readonly name: string
  requireChain(signal: AbortSignal): Promise<void>
  read(tx: string, destination: Destination, signal: AbortSignal): Promise<ChainReading>
  /** Says in a few words what a library's error means. */
  describe(error: unknown): string
}

type Ask = (tx: string, destination: Destination) => Promise<ChainReading>

/** Asks all nodes at once and takes the first that has the transaction. */
export function createAskNodes(nodes: readonly ChainNode[], timeoutMs: number): Ask {
  const asks = nodes.map((node) => createAsk(node, timeoutMs))
  return async (tx, destination) => {
    const readings = asks.map((ask) => ask(tx, destination))
    try {
      return await Promise.any(readings.map(orReject))
    } catch {
      return withoutFinding(await Promise.all(readings))
    }
  }
}

async function orReject(pending: Promise<ChainReading>): Promise<ChainReading> {
  const reading = await pending
  if (reading.outcome === 'not_found' || reading.outcome === 'unavailable') throw reading
  return reading
}

/**
 * "Not found" only when every node says so: the one that failed may have been the one that has the transaction, and
 * callers let a quote expire over a transaction that is not there.
 */
function withoutFinding(readings: readonly ChainReading[]): ChainReading {
  const problems = readings.flatMap((reading) => (reading.outcome === 'unavailable' ? [reading.problem] : []))
  if (readings.length === 0) problems.push('no node is configured')
  return problems.length === 0 ? { outcome: 'not_found' } : { outcome: 'unavailable', problem: problems.join('; ') }
}

/** One deadline for the whole reading. The chain is asked for once, and again after every failure. */
function createAsk(node: ChainNode, timeoutMs: number): Ask {
  let isRightChain = false
  return async (tx, destination) => {
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      if (!isRightChain) await node.requireChain(signal)
      isRightChain = true
      return await node.read(tx, destination, signal)
    } catch (error) {
      isRightChain = false
      return { outcome: 'unavailable', problem: `${node.name}: ${describe(error)}` }
    }

    function describe(error: unknown): string {
      if (error instanceof NodeProblem) return error.message
      return signal.aborted ? `no answer within ${timeoutMs} ms` : node.describe(error)
    }
  }
}

export function nodeName(url: string): string {
  return URL.parse(url)?.host ?? 'node'
}
