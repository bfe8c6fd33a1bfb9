// Which leg of several quotes one transaction paid.

import type { Quote } from '@svc/api/purchases'
import { ServiceError } from '@svc/http-service/service-error'
import type { Network } from '@svc/payments/networks'
import type { ChainPayment } from '@svc/payments/payment'
import { paymentRefused } from '@svc/payments/selling/errors'
import { type QuotedLeg, quotedLeg, readPayment } from '@svc/payments/selling/read-payment'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Context } from '../context.ts'
import type { PayRequest } from './store.ts'
import { noteRefused } from './unclaimed/note-payment.ts'

interface Purchase {
  request: PayRequest
  leg: QuotedLeg
}

/** All legs have the same asset and destination. */
type Purchases = readonly [Purchase, ...Purchase[]]

export interface SponsoredTransaction {
  tx: string
  network: Network
  /** The quotes that it may name. */
  payReqIds: readonly string[]
}

/**
 * An unpaid quote is on every network that it has a leg on; a paid one is on the network of its receipt. Quotes that are
 * only partly on the transaction's network do not belong together (SPON-09). If none of them is, the transaction is wrong.
 */
export function requireOneNetwork(
  { network }: SponsoredTransaction,
  requests: readonly PayRequest[],
  paid: ReadonlyMap<string, SignedReceipt>,
): void {
  const here = requests.filter((request) => {
    const receipt = paid.get(request.pay_req_id)
    return receipt ? receipt.network === network.name : legsOn(network, request).length > 0
  })
  if (here.length > 0 && here.length < requests.length)
    throw mixedNetworks(`not all of these quotes are on ${network.name}, where the transaction is`)
}

/** Tries the legs on the transaction's network that all quotes share, and takes the first that was paid (AMB-48). */
export async function findPayment(
  context: Context,
  { tx, network, payReqIds }: SponsoredTransaction,
  requests: readonly PayRequest[],
): Promise<{ purchases: Purchases; payment: ChainPayment }> {
  const offers = requests.map((request) => ({ request, legs: legsOn(network, request) }))
  if (offers.every(({ legs }) => legs.length === 0)) throw paymentRefused('wrong_transaction_form')
  const shared = sharedLegs(offers)
  if (shared.length === 0) throw mixedNetworks('these quotes have no leg in common that one transaction could pay')
  let refusal = paymentRefused('nothing_received')
  let isNothing = true
  for (const purchases of shared) {
    const payment = await readPayment(context, tx, purchases, payReqIds)
    if (payment.outcome === 'found') return { purchases, payment }
    const { reason, seen } = payment
    const isNoted = await noteRefused(context, { ...purchases[0], payReqIds, reason, payment: seen.payment })
    // A fault of the payment says more than that it is not in another asset.
    if (isNothing) refusal = paymentRefused(reason, seen, isNoted)
    isNothing &&= payment.reason === 'nothing_received'
  }
  throw refusal
}

function legsOn(network: Network, { quote }: PayRequest): QuotedLeg[] {
  const { accepts } = JSON.parse(quote) as Quote
  return accepts.map(quotedLeg).filter((leg) => leg.network === network)
}

interface Offer {
  request: PayRequest
  legs: readonly QuotedLeg[]
}

function sharedLegs(offers: readonly Offer[]): Purchases[] {
  const candidates = offers[0]?.legs ?? []
  return candidates.flatMap(({ asset, payTo }) => {
    const purchases = offers.flatMap(({ request, legs }) => {
      const leg = legs.find((other) => other.asset === asset && other.payTo === payTo)
      return leg ? [{ request, leg }] : []
    })
    // There is at least one offer, so a purchase for each of them is at least one purchase.
    return purchases.length === offers.length ? [purchases as [Purchase, ...Purchase[]]] : []
  })
}

function mixedNetworks(message: string): ServiceError {
  return new ServiceError('mixed_networks', message, { hint: 'confirm quotes that one transaction paid together' })
}
