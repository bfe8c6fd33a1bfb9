// What a chain reports about a transaction, and whether that pays a quote. Reading queries nodes; judging is
// arithmetic.

import { nameOnly } from './references.ts'

/** The required destination of a payment. */
export interface Destination {
  /** The mint or contract; for the native coin, its placeholder address. */
  asset: string
  payTo: string
  /** The id of the authorization that must have paid, if the payer signed one. Then only its own transfer counts. */
  authorization?: string
}

/** One transaction as observed on chain, final enough to rely on. */
export interface ChainPayment {
  outcome: 'found'
  /** The canonical text of the transaction's id. */
  tx: string
  /** The account that paid and signed for it; never an account that only paid the fee. */
  payer: string
  /** Atomic units that arrived. */
  received: bigint
  /** The slot or the block number, by the family of the network. */
  height: number
  /** Unix seconds; null when the chain does not report it. */
  blockTime: number | null
  /** Every reference to a quote in the transaction's memos or calldata. */
  references: readonly string[]
  /** The ids of the signed authorizations that paid the amount; on EVM chains only (EIP-3009). */
  authorizations: readonly string[]
}

export type ChainReading =
  | ChainPayment
  | { outcome: 'not_found' }
  | { outcome: 'rejected'; reason: RejectionReason }
  /** Too few nodes answer, or they contradict each other: the payment's status is unknown. */
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

/** What a purchase requires of a payment. Times are unix seconds. */
export interface PaymentTerms {
  /** Atomic units; for a batch, the sum. */
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
  // No transaction can name a quote that does not exist yet: if it does, our clock was wrong when the quote was made.
  const namesQuote = references.length > 0 && terms.payReqIds.length === 1
  if (!namesQuote && blockTime !== null && blockTime < terms.createdAt - terms.skewSeconds) return 'before_quote'
  // The payment must be made in time; its confirmation may come later (AMB-06). Skew does not extend a quote; its last
  // second counts.
  if ((blockTime ?? terms.now) > terms.expiresAt) return 'after_quote'
  return null
}
