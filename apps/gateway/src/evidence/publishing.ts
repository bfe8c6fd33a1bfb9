// What attesting needs of publishing. It is declared here because the room that publishes imports this one.

import type { PushResult } from '@svc/api/attestations'
import type { Tx } from '../db/schema.ts'

/** Publishes the newest statement of a receipt. */
export type Push = (receiptId: string) => Promise<PushResult>

/** Queues a statement for the EVM registry. `slot` is that of its anchor on the primary chain, or 0 without one. */
export type QueueEntry = (tx: Tx, statement: { receipt_id: string; sequence: number }, slot: number) => Promise<void>

/** So long after its job was queued, a statement that is not published is due again. */
export const PUSH_AGAIN_SECONDS = 3600

export interface Publishing {
  /** Null if the gateway publishes nothing. `signer` is base58. */
  publisher: { signer: string } | null
  /** Null if no EVM registry is configured. */
  queueEntry: QueueEntry | null
  push: Push
}
