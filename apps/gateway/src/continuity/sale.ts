// What a receipt was given for: enough to make receipt and quote again where a database has lost both (T-180). The ids of
// quotes open receipts, so they are left out: whoever confirms again brings theirs.

import type { Quote, Terms } from '@svc/api/purchases'
import type { X402Leg, X402Quote } from '@svc/api/x402'
import { networkNamed } from '@svc/payments/networks'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { PayRequestTable } from '../db/schema.ts'

export interface Sale {
  provider: string
  units: number
  /** When the quote was made and when it ended, in Unix seconds. */
  createdAt: number
  expiresAt: number
  /** Where it was made. */
  url: string
  terms: Terms
  /** The locker that a renewal is for. */
  renews?: string
  /** The leg that was paid, and what was paid of it. */
  leg: PaidLeg
  payer: string
  /** Atomic units that arrived. */
  received: string
  /** Slot or block. */
  height: number
  /** The one in the transaction that was signed for the quote, where it paid instead of the whole transaction. */
  authorization?: string
}

type PaidLeg = Omit<X402Leg, 'extra'> & { extra: Omit<X402Leg['extra'], 'pay_req_id'> }

/** The quote that was paid, whole. */
export type SoldQuote = Pick<PayRequestTable, 'provider' | 'units' | 'created_at' | 'expires_at' | 'quote'>

/** Null where the quote does not say what was paid, as those of imported receipts. */
export function saleOf(receipt: SignedReceipt, sold: SoldQuote, authorization?: string): Sale | null {
  const { accepts, resource, extensions } = JSON.parse(sold.quote) as Partial<Quote | X402Quote>
  const paid = accepts?.find(
    ({ network, extra }) => networkNamed(network)?.name === receipt.network && extra.name === receipt.pay_asset,
  )
  if (!paid || !resource || !extensions) return null
  const { svc } = extensions
  const { pay_req_id: _id, solana_pay: _request, ...extra } = paid.extra
  const renews = 'renewal' in svc ? svc.renewal?.locker_id : undefined
  return {
    provider: sold.provider,
    units: sold.units,
    createdAt: sold.created_at,
    expiresAt: sold.expires_at,
    url: resource.url,
    terms: svc.terms,
    ...(renews !== undefined && { renews }),
    leg: { ...paid, amount: receipt.paid_raw, extra },
    payer: receipt.payer_pubkey,
    received: receipt.received_raw ?? receipt.paid_raw,
    height: receipt.slot ?? receipt.block_number ?? 0,
    ...(authorization !== undefined && { authorization }),
  }
}

/** Null for text that is not whole. */
export function parseSale(text: string): Sale | null {
  try {
    return JSON.parse(text) as Sale
  } catch {
    return null
  }
}
