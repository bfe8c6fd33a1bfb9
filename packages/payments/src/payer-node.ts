// What a payer asks of our nodes that reaches none by itself, as a page in a browser: facts to make a payment with, a way
// to send it, and its outcome.

import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { displayAmount } from './amounts.ts'
import { ChainUnavailable } from './nodes/node-pool.ts'
import type { Destination } from './payment.ts'

export interface PayerNode<Life = never> {
  /** Whether the text is an address of the chain. */
  isAddress(text: string): boolean
  /** Without a payer, only what does not depend on one. Throws `ChainUnavailable`. */
  facts(leg: PayableLeg, payer: string | null): Promise<PaymentFacts>
  /** Reads a signed transaction without asking a node. */
  inspect(transaction: string, legs: readonly PayableLeg[]): Promise<InspectedPayment>
  /** Null when it is sent, now or before; else why the chain would not take it. Throws `ChainUnavailable`. */
  send(payment: SignedPayment): Promise<string | null>
  /** `failed` and `expired` only if it has moved no money and never will. Throws `ChainUnavailable`. */
  outcome(payment: { tx: string; payer: string; life: Life }): Promise<TransactionOutcome>
}

export interface PayableLeg extends Destination {
  amount: bigint
  ticker: string
  decimals: number
  payReqId: string
}

/** Amounts are decimal text, as they go to the payer. */
interface PaymentFacts {
  fee: { amount: string; ticker: string; decimals: number }
  balances: { asset: string; coin: string } | null
  /** Why the payer cannot pay, worded to follow its address. */
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
  /** A transaction, but not one that pays one of the legs and does nothing else. */
  | { outcome: 'other'; problem: string }

export function other(problem: string): InspectedPayment {
  return { outcome: 'other', problem }
}

/** A payment to itself would land, cost a fee, and pay nobody. In the words of the SDK's wallets. */
export const OWN_PAYMENT = 'is the wallet that would be paid: pay from another one'

/** Null if the balance is enough. In the words of the SDK's wallets. */
export function shortage(ticker: string, decimals: number, needed: bigint, held: bigint): string | null {
  if (held >= needed) return null
  const [all, has, missing] = [needed, held, needed - held].map((amount) => displayAmount(amount, decimals))
  return `needs ${all} ${ticker}, holds ${has}: ${missing} ${ticker} is missing`
}

/**
 * From what the nodes say, each by itself. One is enough to say that the payment is there; that it never will be takes a
 * quorum, and nobody who objects: the payer would pay a second time.
 */
export function agreedOutcome(outcomes: readonly TransactionOutcome[], quorum: number): TransactionOutcome {
  if (outcomes.length === 0) throw new ChainUnavailable('no node knows the outcome of a transaction')
  if (outcomes.includes('landed')) return 'landed'
  const [first] = outcomes
  const isAgreed = outcomes.length >= quorum && outcomes.every((outcome) => outcome === first)
  return isAgreed && first !== undefined ? first : 'pending'
}
