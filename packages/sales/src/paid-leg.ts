// The leg of a stored quote that a payment is for.

import type { PaymentLeg } from '@svc/api/quote'
import type { X402Leg } from '@svc/api/x402'
import { ServiceError } from '@svc/http-service/service-error'
import { type LegChoice, notInQuote } from '@svc/payments/legs'
import { NETWORKS, type Network, networkNamed } from '@svc/payments/networks'

export interface QuotedLeg {
  network: Network
  ticker: string
  decimals: number
  asset: string
  payTo: string
  amount: bigint
}

/**
 * The leg of a quote that a confirmation names, or the first when it names none. With only a network or only an asset it
 * may mean the first leg and no other (AMB-14).
 */
export function paidLeg(accepts: readonly PaymentLeg[], choice: LegChoice): QuotedLeg {
  const legs = accepts.map(quotedLeg)
  const first = legs[0] as QuotedLeg
  const { pay_network, pay_asset } = choice
  const network = pay_network === undefined ? first.network : networkNamed(pay_network)
  // Compare in lower case, because the upper case of 'ſ' is 'S', and 'uſdc' is no ticker.
  const ticker = (pay_asset ?? first.ticker).toLowerCase()
  const leg = legs.find((candidate) => candidate.network === network && candidate.ticker.toLowerCase() === ticker)
  const isHalf = (pay_network === undefined) !== (pay_asset === undefined)
  if (leg && (leg === first || !isHalf)) return leg
  if (isHalf)
    throw new ServiceError('leg_incomplete', 'pay_network and pay_asset must be sent together to pay another leg')
  throw new ServiceError('leg_not_in_quote', notInQuote(choice, first.network.name), {
    hint: 'confirm a leg that the quote lists under accepts',
  })
}

/** `payTo` is where the money arrives: for tokens of the primary chain the token account, not the wallet. */
export function quotedLeg({ network, asset, amount, extra, ...leg }: X402Leg): QuotedLeg {
  const known = NETWORKS.find(({ caip2 }) => caip2 === network)
  if (!known) throw new Error(`a stored quote names the network ${network}`)
  const payTo = extra.token_account ?? leg.payTo
  return { network: known, ticker: extra.name, decimals: extra.decimals, asset, payTo, amount: BigInt(amount) }
}
