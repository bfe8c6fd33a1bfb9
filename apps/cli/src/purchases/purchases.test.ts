import type { PaymentLeg } from '@svc/api/purchases'
import { ASSETS } from '@svc/payments/assets'
import { memoryJournal } from '@svc/sdk/journal'
import { describe, expect, it } from 'vitest'
import { askedAmount } from './asked-amount.ts'
import { beginPurchase, endPurchase } from './unfinished.ts'

const buyer = { gateway: 'https://gateway.example', address: 'me' }

describe('purchases whose end was not seen', () => {
  it('are gone on with by whoever orders the same again, until they have ended', async () => {
    const journal = memoryJournal()
    const first = await beginPurchase(journal, buyer, '--units 1', 0)
    expect(first).toMatchObject({ since: null, others: [] })
    const again = await beginPurchase(journal, buyer, '--units 1', 5000)
    expect(again).toEqual({ intent: first.intent, since: '1970-01-01T00:00:00.000Z', others: [] })
    await endPurchase(journal, buyer, first.intent)
    expect((await beginPurchase(journal, buyer, '--units 1', 9000)).intent).not.toBe(first.intent)
  })

  it('are told apart by order, buyer and gateway, and each is told of to the buyer of others', async () => {
    const journal = memoryJournal()
    const one = await beginPurchase(journal, buyer, '--units 1', 0)
    const two = await beginPurchase(journal, buyer, '--units 2', 0)
    expect(two).toMatchObject({ since: null, others: [{ intent: one.intent, order: '--units 1' }] })
    for (const stranger of [
      { ...buyer, address: 'you' },
      { ...buyer, gateway: 'https://b.example' },
    ])
      expect(await beginPurchase(journal, stranger, '--units 1', 0)).toMatchObject({ since: null, others: [] })
    await endPurchase(journal, buyer, one.intent)
    expect(await beginPurchase(journal, buyer, '--units 2', 0)).toMatchObject({ intent: two.intent, others: [] })
  })

  it('are one where two begin at the same moment', async () => {
    const journal = memoryJournal()
    const begun = await Promise.all([0, 0, 0].map((now) => beginPurchase(journal, buyer, '--units 1', now)))
    expect(new Set(begun.map(({ intent }) => intent)).size).toBe(1)
  })
})

function leg(network: string, asset: string, amount: string, name: string, decimals: number): PaymentLeg {
  const extra = { name, decimals, human_amount: '0.01', pay_req_id: '', quote_schema: 'svc_quote_v4' } as const
  return { scheme: 'exact', network, amount, asset, payTo: '', maxTimeoutSeconds: 300, extra }
}

describe('what is asked for', () => {
  it('is shown by what the asset is, not by what the gateway says of the amount', () => {
    for (const { network, ticker, decimals, defaultAddress } of ASSETS) {
      const { caip2 } = network
      const amount = `25${'0'.repeat(decimals)}`
      expect(askedAmount(leg(caip2, defaultAddress ?? 'Token', amount, ticker, decimals))).toContain(`25 ${ticker}`)
    }
  })

  it('is refused where decimals or asset are not those of the name', () => {
    const evm = 'eip155:143'
    const usdc = ASSETS.find(({ network, ticker }) => network.caip2 === evm && ticker === 'USDC')?.defaultAddress ?? ''
    expect(() => askedAmount(leg(evm, usdc, '250000000000', 'USDC', 18))).toThrow('18 decimals; there are 6')
    const wbtc = '0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599'
    expect(() => askedAmount(leg(evm, wbtc, '250000', 'USDC', 6))).toThrow(`calls ${wbtc} USDC`)
  })

  it('is shown in atomic units where the asset is not known', () => {
    expect(askedAmount(leg('eip155:1', '0xabc', '7', 'GOLD', 3))).toBe(
      '7 atomic units of 0xabc, which the gateway calls GOLD',
    )
  })
})
