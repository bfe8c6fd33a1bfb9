import type { Quote, Terms } from '@svc/api/purchases'
import * as sales from '@svc/sales/quote'
import type { OfferFacts } from './quote.ts'

export function quoteBody(facts: OfferFacts & sales.QuoteId): Quote {
  const { baseUrl, units, provider } = facts
  return sales.quoteBody({
    ...facts,
    url: `${baseUrl}/v1/storage/request`,
    description: `${units} unit${units === 1 ? '' : 's'} of storage at ${provider}`,
    confirmUrl: `${baseUrl}/v1/storage/confirm`,
    confirmHeaders: [],
    lastStep: 'Keep the receipt: it opens the locker.',
    terms: scaled(facts.terms, units),
    priceSummary: {
      unit_price_usd: Number(facts.unitPriceUsd),
      units,
      total_usd: Number(facts.totalUsd),
      provider,
    },
  })
}

/** Three units hold three times as much, for as long. */
function scaled(terms: Terms, units: number): Terms {
  return {
    ...terms,
    storage_limit_bytes: terms.storage_limit_bytes * units,
    file_limit: terms.file_limit * units,
    egress_included_bytes: terms.egress_included_bytes * units,
  }
}
