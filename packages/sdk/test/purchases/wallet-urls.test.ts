import type { PaymentLeg } from '@svc/api/quote'
import { beforeAll, describe, expect, it } from 'vitest'
import { transferRequestOf } from '../../src/purchases/wallet-urls.ts'
import { useMarket } from '../market.ts'

let legs: PaymentLeg[]
let host: string
const market = useMarket()
beforeAll(async () => {
  const { accepts, resource } = await market.client().quote({ units: 3 })
  legs = accepts
  host = new URL(resource.url).host
})

const legOf = (ticker: string) =>
  legs.find(({ network, extra }) => network.startsWith('solana:') && extra.name === ticker)!

function changed(leg: PaymentLeg, change: (url: string) => string): PaymentLeg {
  const request = leg.extra.solana_pay!
  return { ...leg, extra: { ...leg.extra, solana_pay: { ...request, url: change(request.url) } } }
}

describe('the transfer request of a quote', () => {
  it('ADD-49 exists for every leg of the primary chain, and for no other leg', async () => {
    for (const leg of legs) {
      const request = await transferRequestOf(leg)
      expect(request).toEqual(leg.network.startsWith('solana:') ? leg.extra.solana_pay : null)
    }
    const url = new URL(legOf('USDC').extra.solana_pay!.url)
    expect([url.protocol, url.pathname]).toEqual(['solana:', legOf('SOL').payTo])
    expect(Object.fromEntries(url.searchParams)).toEqual({
      amount: legOf('USDC').extra.human_amount,
      'spl-token': legOf('USDC').asset,
      reference: legOf('USDC').extra.solana_pay!.reference,
      label: host,
      message: expect.stringMatching(/^3 units of storage at /),
      memo: legOf('USDC').extra.memo,
    })
    expect(url.search).not.toContain('+')
    expect(url.href).not.toContain(legOf('USDC').extra.pay_req_id)
  })

  it.each<[string, string, (url: string) => string]>([
    ['another amount', 'SOL', (url) => url.replace(/amount=/, 'amount=1')],
    ['digits that the asset does not have', 'USDC', (url) => url.replace(/(amount=[^&]+)/, '$10000001')],
    ['an amount twice', 'SOL', (url) => `${url}&amount=1`],
    ['another wallet', 'SOL', (url) => url.replace(/:[^?]+/, ':11111111111111111111111111111111')],
    ['the token account as wallet', 'USDC', (url) => url.replace(/:[^?]+/, `:${legOf('USDC').payTo}`)],
    ['another token', 'USDC', (url) => url.replace(/spl-token=[^&]+/, `spl-token=${legOf('USDT').asset}`)],
    ['a token for a coin', 'SOL', (url) => `${url}&spl-token=${legOf('USDC').asset}`],
    ['another memo', 'SOL', (url) => url.replace(/memo=ref_./, 'memo=ref_')],
    ['another reference', 'SOL', (url) => url.replace(/reference=[^&]+/, `reference=${legOf('USDC').asset}`)],
    ['a link that is not a transfer', 'SOL', () => 'solana:https%3A%2F%2Fexample.com%2Fpay'],
  ])('ADD-49 is not shown with %s', async (_, ticker, change) => {
    expect(await transferRequestOf(legOf(ticker))).not.toBeNull()
    expect(await transferRequestOf(changed(legOf(ticker), change))).toBeNull()
  })
})
