/** How a node of a local chain differs from the chain. */
export interface NodeFaults {
  /** How many slots or blocks the node is behind the others. */
  behind?: number
  /** How many of the newest slots or blocks it keeps: it has pruned all earlier transactions. */
  keeps?: number
  /** Refuses every nth request as over the rate limit. */
  refusesEvery?: number
  /** Missed the last fork: it still shows abandoned transactions in their old slots and blocks. */
  isOnFork?: boolean
  /** How many blocks of the EVM chain `eth_getLogs` may search at once. */
  logBlocks?: number
}

/** One of several nodes of a local chain. It stops with the chain. */
export interface LocalNode {
  readonly url: string
  /** Replaces the node's faults. */
  behave(faults: NodeFaults): void
}

/** Whether a node with these faults refuses its next request. */
export function createRefusals(faults: () => NodeFaults): () => boolean {
  let requests = 0
  return () => {
    const { refusesEvery = Number.POSITIVE_INFINITY } = faults()
    return ++requests % refusesEvery === 0
  }
}
