import type { PaymentLeg } from '@svc/api/purchases'
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

/** The leg of a quote that a confirmation names; the first where it names none (AMB-14). */
export function paidLeg(accepts: readonly PaymentLeg[], choice: LegChoice): QuotedLeg {
  const legs = accepts.map(quotedLeg)
  const first = legs[0] as QuotedLeg
  const { pay_network, pay_asset } = choice
  const network = pay_network === undefined ? first.network : networkNamed(pay_network)
  const ticker = pay_asset?.toUpperCase() ?? first.ticker
  const isWhole = (pay_network === undefined) === (pay_asset === undefined)
  const leg = legs.find((candidate) => candidate.network === network && candidate.ticker === ticker)
  if (leg && (isWhole || leg === first)) return leg
  if (isWhole || !leg) {
    throw new ServiceError('leg_not_in_quote', notInQuote({ pay_network, pay_asset: ticker }, first.network.name), {
      hint: 'confirm a leg that the quote lists under accepts',
    })
  }
  throw new ServiceError('leg_incomplete', 'pay_network and pay_asset must be sent together to pay another leg')
}

function quotedLeg({ network, asset, payTo, amount, extra }: PaymentLeg): QuotedLeg {
  const known = NETWORKS.find(({ caip2 }) => caip2 === network)
  if (!known) throw new Error(`a stored quote names the network ${network}`)
  return { network: known, ticker: extra.name, decimals: extra.decimals, asset, payTo, amount: BigInt(amount) }
}
