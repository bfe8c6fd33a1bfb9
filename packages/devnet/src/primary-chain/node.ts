import type { NodeFaults } from '../node-faults.ts'
import type { PrimaryChain } from './chain.ts'
import { COMMITMENTS, SLOT_MS } from './timeline.ts'

/** The chain as seen by a node that is behind, on a fork, or pruned. */
export function nodeOf(chain: PrimaryChain, faults: () => NodeFaults): PrimaryChain {
  const view: PrimaryChain['view'] = (commitment) => {
    const { behind = 0 } = faults()
    const { slot, height, time } = chain.view(commitment)
    return { commitment, slot: slot - behind, height: Math.max(0, height - behind), time: time - behind * SLOT_MS }
  }
  const firstSlot = () =>
    Math.max(chain.firstSlot(), view('processed').slot - (faults().keeps ?? Number.POSITIVE_INFINITY) + 1)
  const isKnown = ({ slot }: { slot: number }) => slot <= view('processed').slot && slot >= firstSlot()
  return {
    ...chain,
    view,
    firstSlot,
    transaction(signature) {
      const record = (faults().isOnFork && chain.leftByFork(signature)) || chain.transaction(signature)
      return record && isKnown(record) ? record : undefined
    },
    transactions: () => chain.transactions().filter(isKnown),
    commitmentOf: ({ slot }) => COMMITMENTS.findLast((commitment) => slot <= view(commitment).slot) ?? 'processed',
  }
}
