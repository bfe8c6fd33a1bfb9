import { EVM, type Network, PRIMARY } from '@svc/api/networks'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { configuredLegs } from '../../src/legs.ts'
import { plainOfferText } from '../../src/selling/payment-headers.ts'
import { quoteBody, withoutTransferRequests } from '../../src/selling/quote.ts'
import {
  fillTemplate,
  PLACEHOLDER,
  quoteTemplate,
  quoteTexts,
  storedBody,
  templateText,
} from '../../src/selling/quote-template.ts'
import type { PricedLeg } from '../../src/x402.ts'
import { DEFAULT_ASSETS } from '../configured-assets.ts'

const TREASURIES = new Map<Network, string>([
  [PRIMARY, 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'],
  [EVM, `0x${'ab'.repeat(20)}`],
])
const LEGS = await configuredLegs({ treasuries: TREASURIES, assets: DEFAULT_ASSETS })
const RATE = { usd: '150.25', source: 'oracle', as_of: '2026-09-01T12:00:00Z', fallback: false } as const

const id = fc.record({
  payReqId: fc.stringMatching(/^[0-9a-f]{32}$/).map((hex) => `pr_${hex}`),
  expiresAt: fc.integer({ min: 1, max: 4_000_000_000 }),
})
const order = fc.record({
  isDevelopment: fc.boolean(),
  legs: fc
    .shuffledSubarray(LEGS, { minLength: 1 })
    .map((legs) => legs.map((leg) => ({ ...leg, amount: 1_000_001n, rate: RATE })) as [PricedLeg, ...PricedLeg[]]),
  url: fc.webUrl(),
})

function quoteOf(
  offer: { isDevelopment: boolean; legs: [PricedLeg, ...PricedLeg[]]; url: string },
  own: typeof PLACEHOLDER,
) {
  const { url } = offer
  const words = { description: 'of “something”', confirmUrl: url, confirmHeaders: [], lastStep: '', x402Url: url }
  return quoteBody({ ...offer, ...own, ...words, terms: {}, priceSummary: {} })
}

it('PAY-13 PAY-22 a filled template equals the quote, in body and header', () => {
  fc.assert(
    fc.property(order, id, (offer, own) => {
      const template = quoteTemplate(quoteOf(offer, PLACEHOLDER))
      const quote = quoteOf(offer, own)
      expect(fillTemplate(template, quoteTexts(own))).toEqual({
        body: JSON.stringify(quote),
        header: plainOfferText(quote),
      })
    }),
  )
})

it('PAY-06 ADD-49 a quote that is stored by its template is read back byte for byte, except for its transfer requests', () => {
  fc.assert(
    fc.property(order, id, (offer, own) => {
      const template = templateText(quoteTemplate(quoteOf(offer, PLACEHOLDER)))
      const row = { pay_req_id: own.payReqId, expires_at: own.expiresAt, quote: '' }
      expect(storedBody({ ...row, template })).toBe(JSON.stringify(withoutTransferRequests(quoteOf(offer, own))))
      expect(template).not.toContain('transferReference')
    }),
  )
})

// Quotes that were sold are stored forever, so a stored template must always be read the same way.
it('PAY-06 stored templates keep their meaning', () => {
  const row = { pay_req_id: `pr_${'12'.repeat(16)}`, expires_at: 1_800_000_000, quote: '' }
  const template = '["{","payReqId"," ","reference"," ","referenceHex"," ","expires","}"]'
  const reference = 'ref_e361183197adca58e91c5328142390f7'
  const hex = Buffer.from(reference).toString('hex')
  expect(storedBody({ ...row, template })).toBe(`{${row.pay_req_id} ${reference} ${hex} 2027-01-15T08:00:00Z}`)
  expect(storedBody({ ...row, quote: '{"kept":"in full"}', template: null })).toBe('{"kept":"in full"}')
  expect(() => storedBody({ ...row, template: '["","price",""]' })).toThrow('the unknown placeholder price')
})
