// The current price of an order on each leg that can pay for it.

import { ServiceError, ValidationError } from '@svc/service/service-error'
import { chooseLegs, type Leg, type LegChoice, notInQuote } from '../legs.ts'
import type { PriceOracle, Rates } from '../prices/price-oracle.ts'
import { type PricedLeg, priceLegs } from '../x402.ts'

/** The inputs of prices. */
export interface Market {
  legs: readonly Leg[]
  rates: Rates
}

/** Returns the same object until a leg or a rate changes, so that callers may cache what they made from it. */
export function watchMarket(offeredLegs: () => Promise<Leg[]>, oracle: PriceOracle): () => Promise<Market> {
  let last: Market | null = null
  return async () => {
    const now = { legs: await offeredLegs(), rates: await oracle.rates() }
    if (!last || !isSame(last, now)) last = now
    return last
  }
}

function isSame(a: Market, b: Market): boolean {
  return (
    a.legs.length === b.legs.length &&
    a.legs.every((leg, i) => leg === b.legs[i]) &&
    Object.keys(a.rates).every((symbol) => a.rates[symbol] === b.rates[symbol])
  )
}

export type PricedLegs = [PricedLeg, ...PricedLeg[]]

export interface Due {
  totalUsd: string
  /** The number of units, for assets with a fixed price per unit. */
  units: number
  /** The network and asset that the buyer chose, if any. */
  choice: LegChoice
  /** The part of the request with the choice, for the error. */
  from: 'body' | 'query'
}

/** The first leg is the default. */
export async function priceOnLegs(sales: { market(): Promise<Market> }, due: Due): Promise<PricedLegs> {
  return priceOnMarket(await sales.market(), due)
}

export function priceOnMarket({ legs, rates }: Market, { totalUsd, units, choice, from }: Due): PricedLegs {
  const chosen = chosenLegs(legs, choice, from)
  const [first, ...others] = priceLegs(chosen, rates, totalUsd, units)
  if (first) return [first, ...others]
  throw chosen.length > 0 ? noPrice(chosen) : noLegs()
}

function noLegs(): ServiceError {
  return new ServiceError('chain_unavailable', 'no payment method is available at the moment', {
    hint: 'try again in a minute',
    headers: { 'retry-after': '60' },
  })
}

/** No price is better than a wrong one (T-22). */
function noPrice(legs: readonly Leg[]): ServiceError {
  const tickers = [...new Set(legs.map(({ of }) => of.ticker))].join(', ')
  return new ServiceError('chain_unavailable', `no price of ${tickers} is known at the moment`, {
    hint: 'pay with another asset (leave out pay_asset to see all), or try again in a minute',
    details: { reason: 'no_price' },
    headers: { 'retry-after': '60' },
  })
}

function chosenLegs(offered: readonly Leg[], choice: LegChoice, from: 'body' | 'query'): Leg[] {
  const chosen = chooseLegs(offered, choice)
  switch (chosen.outcome) {
    case 'chosen':
      return chosen.legs
    case 'unknown_network':
      throw new ValidationError({
        loc: [from, 'pay_network'],
        msg: `is not a network that this gateway accepts: choose ${namesOf(offered.map(({ of }) => of.network.name))}`,
      })
    case 'not_offered':
      // Without a choice there is nothing to reject.
      if (choice.pay_asset === undefined && choice.pay_network === undefined) return []
      throw new ServiceError('leg_not_in_quote', notInQuote(choice, 'any network'), {
        hint: `this gateway accepts ${namesOf(offered.map(({ of }) => `${of.ticker} on ${of.network.name}`))}`,
      })
  }
}

function namesOf(names: readonly string[]): string {
  return [...new Set(names)].join(', ')
}
