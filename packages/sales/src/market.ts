// What prices are made of, right now.

import { ORACLE_SYMBOLS } from '@svc/payments/assets'
import type { Leg } from '@svc/payments/legs'
import type { PriceOracle, Rates } from '@svc/payments/price-oracle'

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
