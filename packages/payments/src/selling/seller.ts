// A service that sells for payments on chain: what paying, asking and confirming need of it.

import type { WireRequest } from '@svc/http-service/wire-request'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { ChainPayment, RejectionReason } from '../payment.ts'
import type { PaymentTools, QuotedLeg, QuoteTime } from './read-payment.ts'

export interface StoredQuote extends QuoteTime {
  pay_req_id: string
  /** The whole body of the 402 answer. */
  quote: string
}

/** A payment of a leg that does not buy its quote. */
export interface RefusedPayment {
  request: StoredQuote
  leg: QuotedLeg
  /** The quotes that the transaction may name. */
  payReqIds: readonly string[]
  reason: RejectionReason
  /** Null where the chain shows no payment to the leg's destination. */
  payment: ChainPayment | null
}

/** Every service has tables of its own, and claims a payment in a commit of its own. */
export interface Seller<Quote extends StoredQuote, Bought extends { receipt: SignedReceipt }> extends PaymentTools {
  /** The address that confirms payments here: payers sign it to see a receipt again. */
  confirmUrl: string
  /** Counts a request without credentials. */
  limitStranger(wire: WireRequest): Promise<void>
  findQuote(payReqId: string): Promise<Quote | null>
  /** What was bought with a quote; null while nobody has paid. May throw where there is no such quote. */
  findBought(payReqId: string): Promise<Bought | null>
  /** Throws while no payment can be claimed, before the chain is asked. */
  requireCurrent?(): Promise<void>
  /** Notes a payment that is to be returned. True where it is noted: its payer is told so. */
  noteRefused?(refused: RefusedPayment): Promise<boolean>
}
