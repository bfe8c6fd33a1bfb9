import { PROVIDERS, type Provider } from '@svc/api/purchases'
import { ServiceError, ValidationError } from '@svc/http-service/service-error'
import { multiplyUsd } from '@svc/payments/amounts'
import { chooseLegs, type Leg, notInQuote } from '@svc/payments/legs'
import { type PricedLeg, priceLegs } from '@svc/payments/x402'
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
  legs: [PricedLeg, ...PricedLeg[]]
}

/** What an order costs on each leg it may be paid by. */
export async function priceStorage(
  { config, sales }: Context,
  order: Order,
  from: 'body' | 'query',
): Promise<PricedOrder> {
  const provider = chosenProvider(offeredProviders(config), order, from)
  const unitPriceUsd = config.payments.unitPrices[provider]
  const totalUsd = multiplyUsd(unitPriceUsd, order.units)
  const chosen = chosenLegs(await sales.offeredLegs(), order, from)
  const [first, ...others] = priceLegs(chosen, await sales.oracle.rates(), totalUsd, order.units)
  if (!first)
    throw new ServiceError('chain_unavailable', 'no way to pay is available right now', {
      hint: 'try again in a minute',
    })
  return { provider, units: order.units, unitPriceUsd, totalUsd, legs: [first, ...others] }
}

/** What files can be kept by; the first is the default. */
export function offeredProviders({ storage }: Pick<Config, 'storage'>): Provider[] {
  return PROVIDERS.filter((provider) => storage.drivers[provider])
}

function chosenProvider(offered: readonly Provider[], order: Order, from: 'body' | 'query'): Provider {
  const provider = order.provider ?? offered[0]
  if (provider && offered.includes(provider)) return provider
  throw new ValidationError({ loc: [from, 'provider'], msg: `is not offered here: choose ${offered.join(', ')}` })
}

function chosenLegs(offered: readonly Leg[], order: Order, from: 'body' | 'query'): Leg[] {
  const choice = chooseLegs(offered, order)
  switch (choice.outcome) {
    case 'chosen':
      return choice.legs
    case 'unknown_network':
      throw new ValidationError({ loc: [from, 'pay_network'], msg: 'is not a network of this gateway' })
    case 'not_offered':
      // Without a wish there is nothing that could be refused.
      if (order.pay_asset === undefined && order.pay_network === undefined) return []
      throw new ServiceError('leg_not_in_quote', notInQuote(order, 'any network'), {
        hint: 'GET /v1/price lists what can be paid',
      })
  }
}
