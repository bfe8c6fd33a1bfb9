// The interface of settlers, which send payments that a payer has only signed.

import type { EvmPayload, SvmPayload, X402Leg } from '@svc/api/x402'
import type { Outcome } from '@svc/payments/transactions'
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentRequirements, SchemeNetworkFacilitator, Network as X402Network } from '@x402/core/types'
import type { PayRequest } from '../../store.ts'
import type { Settlement } from './store.ts'

/** Settles payments on one chain. Settling twice is harmless: a chain executes a signed payment once. */
export interface Settler {
  /** The account that pays the network fee, if legs must name it. */
  feePayer: string | null
  /** Identifies a payment independently of its request; null for a payload of another chain. */
  paymentId(payload: EvmPayload | SvmPayload): string | null
  /** The account that signed the payment, in the format of receipts; null for an invalid signature. */
  signer(payload: EvmPayload | SvmPayload, leg: X402Leg): Promise<string | null>
  /** Whether the payment is for this leg and not yet public on chain. */
  isUnsent(payload: EvmPayload | SvmPayload, leg: X402Leg): Promise<boolean>
  /** Checks, records and sends the payment, in this order. Null when it was sent, otherwise the reason. */
  settle(order: SettlementOrder): Promise<Refusal | null>
  resend(settlement: Settlement): Promise<void>
  /**
   * The on-chain transaction of an unrecorded payment: the database may have been restored since. `tx` is null when the
   * signature is used but the transaction is not found. Null when it is unused or does not pay this leg. The payment
   * was made no earlier than `since`, in Unix seconds. Throws `Refused`.
   */
  findUse(payload: EvmPayload | SvmPayload, leg: X402Leg, since: number): Promise<{ tx: string | null } | null>
  /**
   * Transactions of the payer that may have paid this leg, whatever was signed for it, newest first or in no particular
   * order. `since` as for `findUse`. Throws `Refused`.
   */
  findPayments(payload: EvmPayload | SvmPayload, leg: X402Leg, since: number): Promise<string[]>
  /** The outcome of a payment whose recorded transaction is not on the chain or has failed. */
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
  /** Whether it came with an Idempotency-Key: then an earlier call may be repeated. */
  isKeyed: boolean
}

export interface SettlementOrder {
  leg: X402Leg
  payload: EvmPayload | SvmPayload
  /**
   * Records the transaction; call it before sending. False when another one is recorded: then this one must not be
   * sent.
   */
  record(sent: SentTransaction, replacing?: string): Promise<boolean>
}

interface SentTransaction {
  tx: string
  /** Fully signed: it can be resent unchanged. */
  raw: string
  /** The height of the chain before sending. */
  height: number
  payer: string
  /** The maximum cost for the gateway, in lamports or gwei. */
  maxFee: number
}

export type Refusal =
  /** `problem` explains the reason to people. */
  | { why: 'invalid'; reason: string; problem?: string }
  /** The signature is already used. The payer must not sign again: it may have paid. */
  | { why: 'used'; reason: string }
  /** The payer's balance of the asset is too small. Null when the payer has no account for it. */
  | { why: 'insufficient_funds'; payer: string; available: bigint | null }
  /** No node responded. */
  | { why: 'unavailable'; problem: string }
  /** The gateway cannot pay the network fee. */
  | { why: 'unfunded' }

export type SettlementOutcome =
  /** `tx` made the payment; it may differ from the recorded transaction. */
  | Outcome<{ tx: string }, unknown>
  /** The payment was made, but its transaction is not among the blocks before this one. */
  | { outcome: 'searching'; searchedTo: number }
  /**
   * The recorded transaction will not pay, but anyone may still send the signed payment until this time, in Unix
   * seconds.
   */
  | { outcome: 'open'; until: number; hasFailed: boolean }

/** Carries an error out of the facilitator, whose own answer would hide the reason. */
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
  const requirements: PaymentRequirements = { ...leg, network: leg.network as X402Network } // one of our CAIP-2 ids
  const facilitator = new x402Facilitator().register(requirements.network, scheme)
  return { facilitator, requirements, signed: { x402Version: 2, accepted: requirements, payload } }
}
