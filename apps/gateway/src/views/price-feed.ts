// The status of the price feed, for /health, the metrics and the admin.

import type { PriceState } from '@svc/payments/prices/price-oracle'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Family } from './metrics/text.ts'

/** `disabled`: nothing is sold for a coin that needs a price. */
export function feedState(prices: readonly PriceState[]): 'ok' | 'degraded' | 'failing' | 'disabled' {
  if (prices.length === 0) return 'disabled'
  if (prices.some(({ state }) => state === 'missing')) return 'failing'
  return prices.every(({ state }) => state === 'ok') ? 'ok' : 'degraded'
}

/** Texts for people. Coins without any price have a warning of their own. */
export function fallbackPrices(prices: readonly PriceState[]): string[] {
  return prices.flatMap(({ symbol, state, usd, publishedAt }) => {
    if (state === 'configured') return [`the price feed has no price of ${symbol}: the configured ${usd} USD are used`]
    if (state !== 'last_price' || publishedAt === null) return []
    return [`the price feed has no new price of ${symbol}: the price of ${isoSeconds(publishedAt)} is used`]
  })
}

export function priceFamilies(prices: readonly PriceState[], now: number): Family[] {
  const known = prices.filter(({ publishedAt }) => publishedAt !== null)
  return [
    {
      name: 'svc_price_up',
      type: 'gauge',
      help: '1 if the price feed has a price of the coin; 0 if another price is used or the coin is not sold.',
      samples: prices.map(({ symbol, state }) => ({ labels: { symbol, state }, value: state === 'ok' ? 1 : 0 })),
    },
    {
      name: 'svc_price_age_seconds',
      type: 'gauge',
      help: 'Age of the price that quotes use.',
      samples: known.map(({ symbol, publishedAt }) => ({
        labels: { symbol },
        value: Math.max(0, now - (publishedAt ?? now)),
      })),
    },
  ]
}
