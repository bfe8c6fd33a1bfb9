import type { Quote } from '@svc/api/purchases'
import { ServiceError } from '@svc/http-service/service-error'
import type { Network } from '@svc/payments/networks'
import type { ChainPayment, RejectionReason } from '@svc/payments/payment'
import { paymentRefused } from '@svc/sales/errors'
import { type QuotedLeg, quotedLeg } from '@svc/sales/paid-leg'
import { readPayment } from '@svc/sales/read-payment'
import type { Context } from '../context.ts'
import type { PayRequest } from './store.ts'

/** All of the same asset and destination. */
interface Purchase {
  request: PayRequest
  leg: QuotedLeg
}

type Purchases = readonly [Purchase, ...Purchase[]]

export interface SponsoredTransaction {
  tx: string
  network: Network
  /** The quotes that it may name. */
  payReqIds: readonly string[]
}

/** The leg is read from the transaction: of those that every quote has on its network, the first that it paid (AMB-48). */
export async function findPayment(
  context: Context,
  { tx, network, payReqIds }: SponsoredTransaction,
  requests: readonly PayRequest[],
): Promise<{ purchases: Purchases; payment: ChainPayment }> {
  const offers = requests.map((request) => ({ request, legs: legsOn(network, request) }))
  if (offers.every(({ legs }) => legs.length === 0)) throw paymentRefused('wrong_transaction_form')
  const shared = sharedLegs(offers)
  if (shared.length === 0) throw mixedNetworks('these quotes have no leg in common that one transaction could pay')
  let reason: RejectionReason = 'nothing_received'
  for (const purchases of shared) {
    const payment = await readPayment(context, tx, purchases, payReqIds)
    if (payment.outcome === 'found') return { purchases, payment }
    // What is wrong with a payment tells more than that another asset was not paid.
    if (reason === 'nothing_received') reason = payment.reason
  }
  throw paymentRefused(reason)
}

export function legsOn(network: Network, { quote }: PayRequest): QuotedLeg[] {
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
    // As many as there are offers, and there is one at least.
    return purchases.length === offers.length ? [purchases as [Purchase, ...Purchase[]]] : []
  })
}

export function mixedNetworks(message: string): ServiceError {
  return new ServiceError('mixed_networks', message, { hint: 'confirm quotes that one transaction paid together' })
}
