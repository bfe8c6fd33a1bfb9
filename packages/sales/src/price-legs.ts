import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { chooseLegs, type Leg, type LegChoice, notInQuote } from '@svc/payments/legs'
import { type PricedLeg, priceLegs } from '@svc/payments/x402'
import type { Market } from './market.ts'
import type { Sales } from './sales.ts'

export type PricedLegs = [PricedLeg, ...PricedLeg[]]

export interface Due {
  totalUsd: string
  /** For assets whose price is a number of them for each unit. */
  units: number
  /** Of the buyer, if he has a wish; where he told it is for the error. */
  choice: LegChoice
  from: 'body' | 'query'
}

/** What is due, on each leg it may be paid by right now; the first is the default. */
export async function priceOnLegs(sales: Sales, due: Due): Promise<PricedLegs> {
  return priceOnMarket(await sales.market(), due)
}

export function priceOnMarket({ legs, rates }: Market, { totalUsd, units, choice, from }: Due): PricedLegs {
  const [first, ...others] = priceLegs(chosenLegs(legs, choice, from), rates, totalUsd, units)
  if (first) return [first, ...others]
  throw new ServiceError('chain_unavailable', 'no way to pay is available right now', { hint: 'try again in a minute' })
}

function chosenLegs(offered: readonly Leg[], wish: LegChoice, from: 'body' | 'query'): Leg[] {
  const choice = chooseLegs(offered, wish)
  switch (choice.outcome) {
    case 'chosen':
      return choice.legs
    case 'unknown_network':
      throw new ValidationError({ loc: [from, 'pay_network'], msg: 'is not a network of this gateway' })
    case 'not_offered':
      // Without a wish there is nothing that could be refused.
      if (wish.pay_asset === undefined && wish.pay_network === undefined) return []
      throw new ServiceError('leg_not_in_quote', notInQuote(wish, 'any network'), {
        hint: 'ask without pay_network and pay_asset to see what can be paid',
      })
  }
}
