import type { PushResult } from '@svc/api/attestations'
import type { Tx } from '../db/schema.ts'

/** Publishes the newest statement of a receipt. */
export type Push = (receiptId: string) => Promise<PushResult>

/** Queues a statement for the EVM registry. `slot` is that of its anchor on the primary chain, or 0 without one. */
export type QueueEntry = (tx: Tx, statement: { receipt_id: string; sequence: number }, slot: number) => Promise<void>
