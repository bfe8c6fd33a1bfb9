// What a chain says about a transaction, and whether that pays a quote. Reading and judging are apart: reading asks a
// node, judging is arithmetic.

import { nameOnly } from './references.ts'

/** Where a payment must have gone. */
export interface Destination {
  /** Mint or contract; the native coin by its stand-in address. */
  asset: string
  payTo: string
  /** The id of the authorization that must have paid, where the payer signed one. Then only its own transfer counts. */
  authorization?: string
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
  /** The slot, or the number of the block, by the family of the network. */
  height: number
  /** Unix seconds; null where the chain does not say. */
  blockTime: number | null
  /** Every name of a quote that the transaction carries in memos or calldata. */
  references: readonly string[]
  /** The ids of signed authorizations that made up what arrived; on EVM chains only (EIP-3009). */
  authorizations: readonly string[]
}

export type ChainReading =
  | ChainPayment
  | { outcome: 'not_found' }
  | { outcome: 'rejected'; reason: RejectionReason }
  /** Too few nodes answer, or they contradict each other: nothing is known about the payment. */
  | { outcome: 'unavailable'; problem: string; isDisputed?: true }

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
  | 'quote_already_paid'

/** Reads payments of one chain family. */
export interface PaymentReader {
  /** Whether the text has the form of this family's transaction ids. */
  isTransactionId(text: string): boolean
  read(tx: string, destination: Destination): Promise<ChainReading>
}

/** What a purchase asks of a payment. Times are unix seconds. */
export interface PaymentTerms {
  /** Atomic units; of a batch, the sum. */
  amount: bigint
  /** The quote, or all quotes of a batch. */
  payReqIds: readonly string[]
  createdAt: number
  expiresAt: number
  /** How far the chain's clock may run behind ours. */
  skewSeconds: number
  now: number
}

export type Judgement = { paid: true } | { paid: false; reason: RejectionReason }

/** Whether a transaction that reached `payTo` pays the purchase. Claiming it ensures that it pays no other. */
export function judgePayment(payment: ChainPayment, terms: PaymentTerms): Judgement {
  const reason = objection(payment, terms)
  return reason === null ? { paid: true } : { paid: false, reason }
}

function objection({ received, references, blockTime }: ChainPayment, terms: PaymentTerms): RejectionReason | null {
  if (!nameOnly(terms.payReqIds, references)) return 'names_another_quote'
  if (received < terms.amount) return 'amount_too_small'
  // Nobody can name a quote that is not made yet: our clock was wrong when it was.
  const namesQuote = references.length > 0 && terms.payReqIds.length === 1
  if (!namesQuote && blockTime !== null && blockTime < terms.createdAt - terms.skewSeconds) return 'before_quote'
  // The payment must be made in time, its confirmation need not (AMB-06). No skew prolongs a quote; its last second counts.
  if ((blockTime ?? terms.now) > terms.expiresAt) return 'after_quote'
  return null
}
