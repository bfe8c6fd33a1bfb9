import type { Provider } from '@svc/api/purchases'
import { type Lru, lru } from '@svc/concurrency/caches'
import type { Market } from '@svc/sales/price-legs'
import { PLACEHOLDER, type QuoteTemplate, quoteTemplate } from '@svc/sales/quote-template'
import type { Context } from '../context.ts'
import { chooseProvider, type Order, priceOrder } from './price-storage.ts'
import { offerFacts } from './quote.ts'
import { quoteBody } from './quote-body.ts'

interface OrderForm extends QuoteTemplate {
  provider: Provider
  units: number
}

/** So many different orders are quoted without work. */
const MAX_KNOWN = 500

/** The form of an order as prices are right now. */
export function createQuoteForms(context: Context): (order: Order) => Promise<OrderForm> {
  const { config, sales } = context
  let known: { market: Market; forms: Lru<string, OrderForm> } | null = null

  return async (order) => {
    const provider = await chooseProvider(context, order, 'body')
    const market = await sales.market()
    if (known?.market !== market) known = { market, forms: lru(MAX_KNOWN) }
    const { forms } = known
    const { units } = order
    const key = JSON.stringify([provider, units, order.pay_network, order.pay_asset])
    const form = forms.get(key)
    if (form) return form
    const facts = offerFacts(config, priceOrder(config, market, { ...order, provider }, 'body'))
    const made = { ...quoteTemplate(quoteBody({ ...facts, ...PLACEHOLDER })), provider, units }
    forms.set(key, made)
    return made
  }
}
