// How payments that their payer has only signed are carried out, on any chain.

import type { EvmPayload, SvmPayload, X402Leg } from '@svc/api/x402'
import type { Outcome } from '@svc/chains/transactions'
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentRequirements, SchemeNetworkFacilitator, Network as X402Network } from '@x402/core/types'
import type { Settlement } from './store.ts'

/** Settles payments of one chain family. Doing so twice is harmless: a chain carries out a signed payment once. */
export interface Settler {
  /** Who pays the network fee, where legs must say so. */
  feePayer: string | null
  /** Identifies the payment, no matter who shows it; null when it cannot be one of this chain. */
  paymentId(payload: EvmPayload | SvmPayload): string | null
  /** Checks, notes and sends the payment, in this order. Null when it was sent, else why not. */
  settle(order: SettlementOrder): Promise<Refusal | null>
  resend(settlement: Settlement): Promise<void>
  /** What became of a payment whose noted transaction the chain does not show, or shows as failed. */
  outcome(settlement: Settlement, leg: X402Leg, hasFailed: boolean): Promise<SettlementOutcome>
}

export interface SettlementOrder {
  leg: X402Leg
  payload: EvmPayload | SvmPayload
  /** Before anything is sent. False when another transaction has been noted: then this one must not be sent. */
  note(sent: SentTransaction, replacing?: string): Promise<boolean>
}

interface SentTransaction {
  tx: string
  /** Complete and signed: it can be sent again as it is. */
  raw: string
  /** Where the chain stood. */
  height: number
}

export type Refusal =
  | { why: 'invalid'; reason: string }
  /** No node could be asked. */
  | { why: 'unavailable'; problem: string }
  /** The gateway cannot pay the network fee. */
  | { why: 'unfunded' }

/** `tx` made the payment; it may be another transaction than the noted one. */
export type SettlementOutcome = Outcome<{ tx: string }, unknown>

/** A refusal by a step inside the facilitator, whose own answer would not say why. */
export class Refused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.why)
    this.refusal = refusal
  }
}

/** A stock facilitator with one scheme: what it objects to, or null. */
export async function runFacilitator(
  scheme: SchemeNetworkFacilitator,
  { leg, payload }: SettlementOrder,
): Promise<Refusal | null> {
  const requirements: PaymentRequirements = { ...leg, network: leg.network as X402Network } // a CAIP-2 id of ours
  const facilitator = new x402Facilitator().register(requirements.network, scheme)
  try {
    const signed = { x402Version: 2, accepted: requirements, payload }
    const { success, errorReason } = await facilitator.settle(signed, requirements)
    return success ? null : { why: 'invalid', reason: errorReason ?? 'not_settled' }
  } catch {
    // The library throws at some payloads that it cannot read.
    return { why: 'invalid', reason: 'not_readable' }
  }
}
