// Chain access for payers without a node of their own, such as pages in a browser: the facts for building a payment, a
// way to send it, and its outcome.

import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { displayAmount } from './amounts.ts'
import { ChainUnavailable } from './nodes/node-pool.ts'
import type { Destination } from './payment.ts'

export interface PayerNode<Life = never> {
  /** Whether the text is an address of the chain. */
  isAddress(text: string): boolean
  /** Without a payer, returns only the facts that do not depend on one. Throws `ChainUnavailable`. */
  facts(leg: PayableLeg, payer: string | null): Promise<PaymentFacts>
  /** Reads a signed transaction without querying a node. */
  inspect(transaction: string, legs: readonly PayableLeg[]): Promise<InspectedPayment>
  /**
   * Null when the transaction is sent, now or earlier; otherwise why the chain rejects it. Throws `ChainUnavailable`.
   */
  send(payment: SignedPayment): Promise<string | null>
  /** `failed` and `expired` mean that it has moved no money and never will. Throws `ChainUnavailable`. */
  outcome(payment: { tx: string; payer: string; life: Life }): Promise<TransactionOutcome>
}

export interface PayableLeg extends Destination {
  amount: bigint
  ticker: string
  decimals: number
  payReqId: string
}

/** Amounts are decimal text, as the payer receives them. */
interface PaymentFacts {
  fee: { amount: string; ticker: string; decimals: number }
  balances: { asset: string; coin: string } | null
  /** Why the payer cannot pay. The text follows the payer's address. */
  objection: string | null
  solana?: { blockhash: string; last_valid_block_height: string; slot: string }
  eip155?: {
    chain_id: number
    to: string
    value: string
    data: string
    gas: string
    max_fee_per_gas: string
    max_priority_fee_per_gas: string
    nonce: number | null
    block: string
  }
}

interface SignedPayment {
  tx: string
  raw: string
}

export type InspectedPayment =
  | ({ outcome: 'payment' } & SignedPayment)
  | { outcome: 'malformed' }
  /** A transaction that does not pay one of the legs, or does more than that. */
  | { outcome: 'other'; problem: string }

export function other(problem: string): InspectedPayment {
  return { outcome: 'other', problem }
}

/** A payment to itself would succeed, cost a fee and pay no one. Same wording as the SDK's wallets. */
export const OWN_PAYMENT = 'is the wallet that receives the payment: pay from another one'

/** Null if the balance is enough. Same wording as the SDK's wallets. */
export function shortage(ticker: string, decimals: number, needed: bigint, balance: bigint): string | null {
  if (balance >= needed) return null
  const [all, has, missing] = [needed, balance, needed - balance].map((amount) => displayAmount(amount, decimals))
  return `needs ${all} ${ticker}, holds ${has}: ${missing} ${ticker} is missing`
}

/**
 * Combines what each node reports. One node is enough to show that the payment exists. To conclude that it never will,
 * a quorum must agree and no node may object, because the payer would pay a second time.
 */
export function agreedOutcome(outcomes: readonly TransactionOutcome[], quorum: number): TransactionOutcome {
  if (outcomes.length === 0) throw new ChainUnavailable('no node reports the outcome of a transaction')
  if (outcomes.includes('landed')) return 'landed'
  const [first] = outcomes
  const isAgreed = outcomes.length >= quorum && outcomes.every((outcome) => outcome === first)
  return isAgreed && first !== undefined ? first : 'pending'
}
