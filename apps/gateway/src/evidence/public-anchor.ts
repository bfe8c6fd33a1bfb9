import type { Anchor } from '@svc/api/attestations'
import type { PublishedAnchor } from '@svc/api/evidence'
import { isoSeconds } from '@svc/protocol/evidence'

/** An anchor by what is public of it, and leads to no receipt, which opens files (T-61). */
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
