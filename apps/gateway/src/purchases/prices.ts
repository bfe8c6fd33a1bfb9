// The current price of storage: the provider to sell, and the price of an order on each leg that can pay it.

import { PROVIDERS, type Provider } from '@svc/api/providers'
import type { Price } from '@svc/api/purchases'
import { displayAmount, multiplyUsd } from '@svc/payments/amounts'
import { type Market, type PricedLegs, priceOnMarket } from '@svc/payments/selling/price-legs'
import { type PricedLeg, wireRate } from '@svc/payments/x402'
import { QUOTE_SCHEMA } from '@svc/protocol/names'
import { ServiceError, ValidationError } from '@svc/service/service-error'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'

export interface Order {
  units: number
  provider?: Provider | undefined
  pay_network?: string | undefined
  pay_asset?: string | undefined
}

export interface PricedOrder {
  provider: Provider
  units: number
  unitPriceUsd: string
  totalUsd: string
  legs: PricedLegs
}

export async function showPrice(context: Context, query: Partial<Order>): Promise<Price> {
  const { unitPrices, terms } = context.config.payments
  const provider = orderedProvider(context.config, query, 'query')
  const order = { ...query, provider, units: query.units ?? 1 }
  const priced = priceOrder(context.config, await context.sales.market(), order, 'query')
  return {
    quote_schema: QUOTE_SCHEMA,
    units: priced.units,
    provider: priced.provider,
    unit_price_usd: Number(priced.unitPriceUsd),
    total_usd: Number(priced.totalUsd),
    amounts: priced.legs.map(wireAmount),
    providers: Object.fromEntries(
      (await offeredProviders(context)).map((provider) => [
        provider,
        { unit_price_usd: Number(unitPrices[provider]), terms: terms[provider] },
      ]),
    ),
  }
}

function wireAmount({ of, asset, amount, rate }: PricedLeg): Price['amounts'][number] {
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

/** The price of an order on each leg that can pay it. */
export async function priceStorage(context: Context, order: Order, from: 'body' | 'query'): Promise<PricedOrder> {
  const provider = await chooseProvider(context, order, from)
  return priceOrder(context.config, await context.sales.market(), { ...order, provider }, from)
}

export function priceOrder(
  { payments }: Config,
  market: Market,
  order: Order & { provider: Provider },
  from: 'body' | 'query',
): PricedOrder {
  const { provider, units } = order
  const unitPriceUsd = payments.unitPrices[provider]
  const totalUsd = multiplyUsd(unitPriceUsd, units)
  const legs = priceOnMarket(market, { totalUsd, units, choice: order, from })
  return { provider, units, unitPriceUsd, totalUsd, legs }
}

/** The provider to sell: the ordered one or the default. A provider that does not respond is not sold. */
export async function chooseProvider(context: Context, order: Order, from: 'body' | 'query'): Promise<Provider> {
  const provider = orderedProvider(context.config, order, from)
  if (await context.providers.isUp(provider)) return provider
  const offered = await offeredProviders(context)
  const others = offered.length > 0 ? `name ${offered.join(' or ')} as provider, or ` : ''
  throw new ServiceError('STORAGE_UNAVAILABLE', `${provider} is unavailable at the moment`, {
    hint: `${others}try again in a minute`,
    headers: { 'retry-after': '60' },
  })
}

/** Keeps the default provider during an outage; a different one is never sold silently (PAY-03). */
function orderedProvider(config: Config, order: Partial<Order>, from: 'body' | 'query'): Provider {
  const configured = configuredProviders(config)
  const provider = order.provider ?? configured[0]
  if (provider && configured.includes(provider)) return provider
  throw new ValidationError({
    loc: [from, 'provider'],
    msg: `is not offered by this gateway: choose ${configured.join(', ')}`,
  })
}

/** The providers that respond at the moment. */
async function offeredProviders({ config, providers }: Context): Promise<Provider[]> {
  const health = await providers.health()
  return configuredProviders(config).filter((provider) => health.get(provider))
}

/** The first is the default. */
function configuredProviders({ storage }: Config): Provider[] {
  return PROVIDERS.filter((provider) => storage.drivers[provider])
}
