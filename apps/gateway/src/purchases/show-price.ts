import type { Price } from '@svc/api/purchases'
import { displayAmount } from '@svc/payments/amounts'
import { type PricedLeg, wireRate } from '@svc/payments/x402'
import { QUOTE_SCHEMA } from '@svc/protocol/names'
import type { Context } from '../context.ts'
import { type Order, offeredProviders, priceStorage } from './price-storage.ts'

export async function showPrice(context: Context, query: Partial<Order>): Promise<Price> {
  const { unitPrices, terms } = context.config.payments
  const priced = await priceStorage(context, { ...query, units: query.units ?? 1 }, 'query')
  return {
    quote_schema: QUOTE_SCHEMA,
    units: priced.units,
    provider: priced.provider,
    unit_price_usd: Number(priced.unitPriceUsd),
    total_usd: Number(priced.totalUsd),
    amounts: priced.legs.map(amount),
    providers: Object.fromEntries(
      (await offeredProviders(context)).map((provider) => [
        provider,
        { unit_price_usd: Number(unitPrices[provider]), terms: terms[provider] },
      ]),
    ),
  }
}

function amount({ of, asset, amount, rate }: PricedLeg): Price['amounts'][number] {
  return {
    network: of.network.caip2,
    pay_network: of.network.name,
    pay_asset: of.ticker,
    asset,
    amount: String(amount),
    decimals: of.decimals,
    human_amount: displayAmount(amount, of.decimals),
    ...(rate && { oracle_rate: wireRate(rate) }),
  }
}
