// The interface of a wallet for purchases, on any chain.

import type { PaymentLeg } from '@svc/api/quote'
import { paymentReference } from '@svc/protocol/ids'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'

export interface Wallet {
  /** The part of a CAIP-2 id before its colon. The wallet can pay the legs of this namespace. */
  readonly namespace: 'solana' | 'eip155'
  readonly address: string
  /** The CAIP-2 id of its network, if the wallet pays legs of only one network. */
  readonly network?: string
  /** Whether its node is on this machine or network. Only on such chains is money worthless. */
  readonly isLocal: boolean
  /** Seconds that a payment may need to land. A quote with less time left is not paid. */
  readonly landsWithin: number
  /** Why it cannot pay the leg: its node is on another chain, or its balance is too low for the amount or the fee. */
  objection(leg: PaymentLeg): Promise<string | null>
  /** The maximum fee of the network for the payment, or for one that replaces a pending payment. */
  fee?(leg: PaymentLeg, instead?: SignedPayment): Promise<NetworkFee>
  /**
   * Signs without sending, and offers at most this fee. Throws if the chain would refuse the payment. A wallet with
   * `findSent` also sends: it may have sent unless it throws a `PaymentError` with `not_moved`.
   */
  sign(leg: PaymentLeg, maxFee?: bigint): Promise<SignedPayment>
  /**
   * Exists only for wallets that cannot sign without sending. Searches the chain for the payment of a leg after the
   * answer of `sign` was lost. Null while there is none.
   */
  findSent?(leg: PaymentLeg): Promise<SignedPayment | null>
  /** Signs a replacement of a pending payment, on chains where only one of the two can land. */
  signInstead?(of: SignedPayment, leg: PaymentLeg, maxFee?: bigint): Promise<SignedPayment>
  /** Can be repeated, because the same bytes pay only once. */
  send(payment: SignedPayment): Promise<void>
  /** `pending` while the outcome is uncertain. `failed` and `expired` only if no money can have moved. */
  outcomeOf(payment: SignedPayment): Promise<TransactionOutcome>
}

/** The maximum cost of a payment besides its amount, in the coin of its chain. */
export interface NetworkFee {
  amount: bigint
  ticker: string
  decimals: number
}

/** Everything needed to look up the outcome of a payment later or to send it again. */
export interface SignedPayment {
  /** The transaction id, known before it is sent. */
  tx: string
  raw: string
  /** The values from which the wallet determines that the payment can no longer land. */
  life: Readonly<Record<string, string>>
}

/** The reference of the quote in a payment on chain. Services of release 1.0.0 require the plain `pay_req_id`. */
export function referenceOf({ extra: { memo, pay_req_id } }: PaymentLeg): string {
  return memo === pay_req_id ? pay_req_id : paymentReference(pay_req_id)
}
