import type { LogAnchor } from '@svc/api/log'
import { ROLES } from '@svc/api/networks'
import type { LogAnchorTable } from '../../db/schema.ts'

/** How the anchor of a checkpoint is shown, once it is on chain. */
export function logAnchorOf({ tx, slot, block_time, signer, payload, state }: LogAnchorTable): LogAnchor {
  const finalized = state === 'finalized'
  return {
    chain: ROLES.publication.caip2,
    tx,
    slot,
    block_time,
    signer,
    payload: JSON.parse(payload),
    commitment: finalized ? 'finalized' : 'confirmed',
    finalized,
  }
}
