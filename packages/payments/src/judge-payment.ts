import type { ChainPayment, RejectionReason } from './payment.ts'

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
  if (!references.every((id) => terms.payReqIds.includes(id))) return 'names_another_quote'
  if (received < terms.amount) return 'amount_too_small'
  if (blockTime !== null && blockTime < terms.createdAt - terms.skewSeconds) return 'before_quote'
  // The payment must be made in time, its confirmation need not (AMB-06). No skew prolongs a quote; its last second counts.
  if ((blockTime ?? terms.now) > terms.expiresAt) return 'after_quote'
  return null
}
