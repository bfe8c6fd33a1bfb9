// The interface of settlers: they send payments that the payer has only signed.

import type { EvmPayload, SvmPayload, X402Leg } from '@svc/api/x402'
import type { Outcome } from '@svc/payments/transactions'
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentRequirements, SchemeNetworkFacilitator, Network as X402Network } from '@x402/core/types'
import type { PayRequest } from '../../store.ts'
import type { Settlement } from './store.ts'

/** Settles payments on one chain. Settling twice is harmless: a chain executes a signed payment once. */
export interface Settler {
  /** The account that pays the network fee, where legs must name it. */
  feePayer: string | null
  /** The same id for the same payment, whatever request it comes with; null for a payload of another chain. */
  paymentId(payload: EvmPayload | SvmPayload): string | null
  /** The account that signed the payment, as receipts name payers; null for a signature that does not verify. */
  signer(payload: EvmPayload | SvmPayload, leg: X402Leg): Promise<string | null>
  /** Whether the payment is for this leg, and not on chain yet, where anybody could have read it. */
  isUnsent(payload: EvmPayload | SvmPayload, leg: X402Leg): Promise<boolean>
  /** Checks, notes and sends the payment, in this order. Null when it was sent, otherwise the reason. */
  settle(order: SettlementOrder): Promise<Refusal | null>
  resend(settlement: Settlement): Promise<void>
  /**
   * The transaction on chain that made a payment of which nothing is noted: the database may have been set back since.
   * `tx` is null where what was signed is used, and the transaction is not found. Null where it is not used, or not a
   * payment of this leg. `since`, in Unix seconds: it was not made before. Throws `Refused`.
   */
  findUse(payload: EvmPayload | SvmPayload, leg: X402Leg, since: number): Promise<{ tx: string | null } | null>
  /**
   * Transactions of the payer that may have paid this leg, whatever was signed for it, the newest first or in no order.
   * `since` as for `findUse`. Throws `Refused`.
   */
  findPayments(payload: EvmPayload | SvmPayload, leg: X402Leg, since: number): Promise<string[]>
  /** The outcome of a payment whose noted transaction is not on the chain, or has failed there. */
  outcome(settlement: Settlement, leg: X402Leg, hasFailed: boolean): Promise<SettlementOutcome>
}

export interface SignedPayment {
  request: PayRequest
  leg: X402Leg
  payload: EvmPayload | SvmPayload
  /** `Settler.paymentId`. */
  id: string
  /** The client's address, as rate limits count it. */
  address: string
  /** Whether it came with an Idempotency-Key: then the call before it may be repeated. */
  isKeyed: boolean
}

export interface SettlementOrder {
  leg: X402Leg
  payload: EvmPayload | SvmPayload
  /** Call it before sending. False when another transaction has been noted: then this one must not be sent. */
  note(sent: SentTransaction, replacing?: string): Promise<boolean>
}

interface SentTransaction {
  tx: string
  /** Signed by all: it can be resent as it is. */
  raw: string
  /** The height of the chain before it was sent. */
  height: number
  payer: string
  /** The most that it costs the gateway, in lamports or gwei. */
  maxFee: number
}

export type Refusal =
  /** `problem` says more than the reason, to people. */
  | { why: 'invalid'; reason: string; problem?: string }
  /** It was used before. Nobody may be asked to sign again: it may have paid. */
  | { why: 'used'; reason: string }
  /** The payer's account holds too little of the asset. Null where the payer has no account for it. */
  | { why: 'insufficient_funds'; payer: string; available: bigint | null }
  /** No node answered. */
  | { why: 'unavailable'; problem: string }
  /** The gateway cannot pay the network fee. */
  | { why: 'unfunded' }

export type SettlementOutcome =
  /** `tx` made the payment; it may differ from the noted transaction. */
  | Outcome<{ tx: string }, unknown>
  /** The payment was made, but the transaction that made it is not found among the blocks before this one. */
  | { outcome: 'searching'; searchedTo: number }
  /** The noted transaction will not pay, but what was signed may still be sent by anybody, until then in Unix seconds. */
  | { outcome: 'open'; until: number; hasFailed: boolean }

/** Carries a refusal out of the facilitator, whose own answer would hide the reason. */
export class Refused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.why)
    this.refusal = refusal
  }
}

type Payment = Pick<SettlementOrder, 'leg' | 'payload'>

/** Settles with a stock facilitator. Null when it succeeded, otherwise the reason. */
export async function runFacilitator(scheme: SchemeNetworkFacilitator, payment: Payment): Promise<Refusal | null> {
  const { facilitator, signed, requirements } = facilitatorOf(scheme, payment)
  try {
    const { success, errorReason } = await facilitator.settle(signed, requirements)
    return success ? null : { why: 'invalid', reason: errorReason ?? 'not_settled' }
  } catch {
    // The library throws on some unreadable payloads.
    return { why: 'invalid', reason: 'not_readable' }
  }
}

/** Whether a stock facilitator would settle it. */
export async function passesFacilitator(scheme: SchemeNetworkFacilitator, payment: Payment): Promise<boolean> {
  const { facilitator, signed, requirements } = facilitatorOf(scheme, payment)
  try {
    return (await facilitator.verify(signed, requirements)).isValid
  } catch {
    return false
  }
}

function facilitatorOf(scheme: SchemeNetworkFacilitator, { leg, payload }: Payment) {
  const requirements: PaymentRequirements = { ...leg, network: leg.network as X402Network } // a CAIP-2 id of ours
  const facilitator = new x402Facilitator().register(requirements.network, scheme)
  return { facilitator, requirements, signed: { x402Version: 2, accepted: requirements, payload } }
}
