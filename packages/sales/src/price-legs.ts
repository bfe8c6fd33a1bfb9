// What prices are made of, right now.

import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { ORACLE_SYMBOLS } from '@svc/payments/assets'
import { chooseLegs, type Leg, type LegChoice, notInQuote } from '@svc/payments/legs'
import type { PriceOracle, Rates } from '@svc/payments/price-oracle'
import { type PricedLeg, priceLegs } from '@svc/payments/x402'
import type { Sales } from './sales.ts'

export interface Market {
  legs: readonly Leg[]
  rates: Rates
}

/** One and the same object until something of it changes: what was made of it before is still good. */
export function watchMarket(offeredLegs: () => Promise<Leg[]>, oracle: PriceOracle): () => Promise<Market> {
  let known: Market | null = null
  return async () => {
    const now = { legs: await offeredLegs(), rates: await oracle.rates() }
    if (!known || !isSame(known, now)) known = now
    return known
  }
}

function isSame(a: Market, b: Market): boolean {
  return (
    a.legs.length === b.legs.length &&
    a.legs.every((leg, i) => leg === b.legs[i]) &&
    ORACLE_SYMBOLS.every((symbol) => a.rates[symbol] === b.rates[symbol])
  )
}

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
