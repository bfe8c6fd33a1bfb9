// Who pays: what a purchase asks of a wallet, on whatever chain.

import type { PaymentLeg } from '@svc/api/quote'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'

export interface Wallet {
  /** The part of a CAIP-2 id before its colon: which legs of a quote this wallet can pay. */
  readonly namespace: 'solana' | 'eip155'
  readonly address: string
  /** Whether its node is on this machine or network: only there are chains on which money is worth nothing. */
  readonly isLocal: boolean
  /** For how many seconds a payment may be under way: a quote with less time left is not paid. */
  readonly landsWithin: number
  /** Why it cannot pay the leg: its node is of another chain, or something is missing, network fee included. */
  objection(leg: PaymentLeg): Promise<string | null>
  /** Signs without sending. Throws where the chain would refuse the payment. */
  sign(leg: PaymentLeg): Promise<SignedPayment>
  /** The same in place of a payment that may still land, where the chain lets only one of both. */
  signInstead?(of: SignedPayment, leg: PaymentLeg): Promise<SignedPayment>
  /** As often as wanted: the same bytes pay once. */
  send(payment: SignedPayment): Promise<void>
  /** `pending` wherever it is not certain; `failed` and `expired` only where no money can have moved. */
  outcomeOf(payment: SignedPayment): Promise<TransactionOutcome>
}

/** All that is needed to find out later what became of a payment, or to send it again. */
export interface SignedPayment {
  /** How the chain will name it; known before it is sent. */
  tx: string
  raw: string
  /** By what its wallet can tell that it can no longer land. */
  life: Readonly<Record<string, string>>
}
