// What a chain says about a transaction, and whether that pays a quote. Reading and judging are apart: reading asks a
// node, judging is arithmetic.

/** Where a payment must have gone. */
export interface Destination {
  /** Mint or contract; the native coin by its stand-in address. */
  asset: string
  payTo: string
}

/** One transaction as seen on chain, final enough to rely on. */
export interface ChainPayment {
  outcome: 'found'
  /** In the one text form that the transaction has. */
  tx: string
  /** The account that paid and signed for it; never one that only paid the fee. */
  payer: string
  /** Atomic units that arrived. */
  received: bigint
  /** Slot on the primary chain, block number on the EVM chain. */
  height: number
  /** Unix seconds; null where the chain does not say. */
  blockTime: number | null
  /** Every `pay_req_id` that the transaction carries in memos or calldata. */
  references: readonly string[]
}

export type ChainReading =
  | ChainPayment
  | { outcome: 'not_found' }
  | { outcome: 'rejected'; reason: RejectionReason }
  /** No node answers, or none can be believed: nothing is known about the payment. */
  | { outcome: 'unavailable'; problem: string }

export type RejectionReason =
  | 'wrong_transaction_form'
  | 'transaction_failed'
  | 'nothing_received'
  | 'payer_unclear'
  | 'amount_too_small'
  | 'before_quote'
  | 'after_quote'
  | 'names_another_quote'
  | 'transaction_already_used'

/** Reads payments of one chain family. */
export interface PaymentReader {
  /** Whether the text has the form of this family's transaction ids. */
  isTransactionId(text: string): boolean
  read(tx: string, destination: Destination): Promise<ChainReading>
}
