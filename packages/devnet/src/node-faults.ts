/** In what a node of a local chain differs from the chain. */
export interface NodeFaults {
  /** How many slots or blocks it is behind the others. */
  behind?: number
  /** How many of its newest slots or blocks it has: it has forgotten all transactions before them. */
  keeps?: number
  /** It refuses every so many requests, because there are too many of them. */
  refusesEvery?: number
  /** It has not noticed the last fork: it shows what that has left, in the slots and blocks of before. */
  isOnFork?: boolean
  /** How many blocks of the EVM chain `eth_getLogs` may search at once. */
  logBlocks?: number
}

/** One of several nodes of a local chain. It stops with the chain. */
export interface LocalNode {
  readonly url: string
  /** From now on it has these faults, and no others. */
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
