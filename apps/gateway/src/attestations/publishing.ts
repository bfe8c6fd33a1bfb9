// What attesting asks of publishing. Publishing knows statements, so these are declared here.

import type { PushResult } from '@svc/api/attestations'
import type { Transaction } from 'kysely'
import type { Schema } from '../db/schema.ts'

/** Publishes the newest statement of a receipt. */
export type Push = (receiptId: string) => Promise<PushResult>

/** Has a statement written to the EVM registry, too. `slot`: of its anchor on the primary chain, 0 without one. */
export type QueueEntry = (
  tx: Transaction<Schema>,
  statement: { receipt_id: string; sequence: number },
  slot: number,
) => Promise<void>

export interface Publishing {
  /** Null where nothing is published. `signer`: base58. */
  publisher: { signer: string } | null
  /** Null where no registry of the EVM chain is configured. */
  queueEntry: QueueEntry | null
  push: Push
}
