// What the price feed says about itself: on /health, in the metrics, and to the operator.

import type { PriceState } from '@svc/payments/prices/price-oracle'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Family } from './metrics/text.ts'

/** `disabled`: nothing is sold for a coin that needs a price. */
export function feedState(prices: readonly PriceState[]): 'ok' | 'degraded' | 'failing' | 'disabled' {
  if (prices.length === 0) return 'disabled'
  if (prices.some(({ state }) => state === 'missing')) return 'failing'
  return prices.every(({ state }) => state === 'ok') ? 'ok' : 'degraded'
}

/** For people; coins without any price have a warning of their own. */
export function standIns(prices: readonly PriceState[]): string[] {
  return prices.flatMap(({ symbol, state, usd, publishedAt }) => {
    if (state === 'configured')
      return [`the price feed tells no price of ${symbol}: the configured ${usd} USD stand in`]
    if (state !== 'last_price' || publishedAt === null) return []
    return [`the price feed tells no new price of ${symbol}: the one of ${isoSeconds(publishedAt)} stands in`]
  })
}

export function priceFamilies(prices: readonly PriceState[], now: number): Family[] {
  const known = prices.filter(({ publishedAt }) => publishedAt !== null)
  return [
    {
      name: 'svc_price_up',
      type: 'gauge',
      help: 'Whether the price feed tells a price of a coin: 1; 0 where another stands in or the coin is not sold.',
      samples: prices.map(({ symbol, state }) => ({ labels: { symbol, state }, value: state === 'ok' ? 1 : 0 })),
    },
    {
      name: 'svc_price_age_seconds',
      type: 'gauge',
      help: 'How old the price is that quotes reckon with.',
      samples: known.map(({ symbol, publishedAt }) => ({
        labels: { symbol },
        value: Math.max(0, now - (publishedAt ?? now)),
      })),
    },
  ]
}
