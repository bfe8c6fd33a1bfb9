import type { Anchor } from '@svc/api/attestations'
import type { PublishedAnchor } from '@svc/api/evidence'
import { isoSeconds } from '@svc/protocol/evidence'

/** The public facts about an anchor. They must not lead to the receipt id, which grants access to files (T-61). */
export function publicAnchor({
  type,
  chain,
  tx,
  slot,
  block_time,
  finalized = false,
}: Anchor): Pick<PublishedAnchor, 'type' | 'network' | 'tx' | 'slot' | 'block_time' | 'finalized'> {
  return {
    type,
    network: chain,
    tx,
    slot,
    block_time: typeof block_time === 'number' ? isoSeconds(block_time) : null,
    finalized,
  }
}
