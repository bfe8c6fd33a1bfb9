import { EVM, PRIMARY } from '@svc/api/networks'
import type { PaymentLeg } from '@svc/api/quote'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { challengeHeader, chargesOf } from '../../src/selling/mpp/challenge.ts'
import { MAX_CHARACTERS, plainOfferText, x402OfferText } from '../../src/selling/payment-headers.ts'
import { quoteTexts } from '../../src/selling/quote-template.ts'

const ID = { payReqId: `pr_${'12'.repeat(16)}`, expiresAt: 1_800_000_000 }

/** Includes assets that do not exist yet. */
const leg = fc
  .record({
    isEvm: fc.boolean(),
    name: fc.constantFrom('SOL', 'MON', 'USDC', 'USDT0', 'EURC', 'a-rather-long-ticker'),
    amount: fc.bigInt(1n, 10n ** 21n).map(String),
  })
  .map(({ isEvm, name, amount }): PaymentLeg => {
    const address = isEvm ? `0x${'ab'.repeat(20)}` : 'FQnm7VnmFawD9Dtb4yCexQjERoZ9LkdzAYijzK5tzQEe'
    return {
      scheme: 'exact',
      network: (isEvm ? EVM : PRIMARY).caip2,
      amount,
      asset: address,
      payTo: address,
      maxTimeoutSeconds: 300,
      extra: {
        name,
        decimals: 18,
        human_amount: amount,
        pay_req_id: ID.payReqId,
        quote_schema: 'svc_quote_v4',
        memo: `ref_${'34'.repeat(16)}`,
      },
    }
  })
const legs = fc.array(leg, { minLength: 1, maxLength: 30 })
const host = fc.integer({ min: 4, max: 253 }).map((length) => 'h'.repeat(length))

function quoteOf(accepts: PaymentLeg[], name: string) {
  const info = { confirm_url: `https://${name}/v1/storage/confirm`, x402_url: `https://${name}/v1/x402/storage` }
  return {
    x402Version: 2 as const,
    resource: { url: `https://${name}/v1/storage/request` },
    accepts,
    extensions: { svc: { info } },
  }
}

it.each([
  ['a plain quote', plainOfferText, MAX_CHARACTERS.plainOffer],
  ['an x402 offer', (quote: ReturnType<typeof quoteOf>) => x402OfferText(quote, {}), MAX_CHARACTERS.x402Offer],
])('ADD-01 the header of %s has a bounded length, for any number of legs', (_name, textOf, max) => {
  fc.assert(
    fc.property(legs, host, (accepts, name) => {
      const text = textOf(quoteOf(accepts, name))
      expect(Buffer.from(text).toString('base64').length).toBeLessThanOrEqual(max)
      const header = JSON.parse(text)
      expect(header.accepts.length).toBeGreaterThan(0)
      expect(header.accepts[0]).toMatchObject({ network: accepts[0]!.network, amount: accepts[0]!.amount })
      expect(header.accepts.length + (header.extensions.svc.legs_left_out ?? 0)).toBe(accepts.length)
      // More than one network is offered: the other one is in the header as soon as it has a second leg.
      const networks = (all: PaymentLeg[]) => new Set(all.map(({ network }) => network)).size
      expect(networks(header.accepts)).toBe(Math.min(networks(accepts), header.accepts.length))
    }),
  )
})

it('ADD-01 T-100 challenges have a bounded length, for any number of legs', () => {
  const payee = { isDevelopment: true, solanaWallet: `F${'Q'.repeat(43)}`, takesAuthorizations: true }
  fc.assert(
    fc.property(legs, host, (accepts, realm) => {
      const charges = chargesOf(accepts, { ...payee, realm })
      const header = challengeHeader(charges, quoteTexts(ID), { ...payee, realm })
      expect(header?.length).toBeLessThanOrEqual(MAX_CHARACTERS.challenges)
    }),
  )
})
