import { PROVIDERS, type Provider } from '@svc/api/purchases'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { multiplyUsd } from '@svc/payments/amounts'
import { type Market, type PricedLegs, priceOnMarket } from '@svc/sales/price-legs'
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

/** What an order costs on each leg it may be paid by. */
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

/** What files can be kept by right now; the first is the default. */
export async function offeredProviders({ config, providers }: Context): Promise<Provider[]> {
  const health = await providers.health()
  return configuredProviders(config).filter((provider) => health.get(provider))
}

function configuredProviders({ storage }: Config): Provider[] {
  return PROVIDERS.filter((provider) => storage.drivers[provider])
}

/** The one that is ordered, else the default. Nobody pays for a place that cannot take his files now. */
export async function chooseProvider(context: Context, order: Order, from: 'body' | 'query'): Promise<Provider> {
  const offered = await offeredProviders(context)
  const provider = order.provider ?? offered[0]
  if (provider && offered.includes(provider)) return provider
  const configured = configuredProviders(context.config)
  if (provider && !configured.includes(provider)) {
    throw new ValidationError({ loc: [from, 'provider'], msg: `is not offered here: choose ${configured.join(', ')}` })
  }
  throw new ServiceError('STORAGE_UNAVAILABLE', `${provider ?? 'every provider'} does not answer right now`, {
    hint: offered.length > 0 ? `choose ${offered.join(', ')}, or try again in a minute` : 'try again in a minute',
    headers: { 'retry-after': '60' },
  })
}
