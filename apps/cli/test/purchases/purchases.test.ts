import { ASSETS } from '@svc/api/assets'
import type { PaymentLeg } from '@svc/api/quote'
import { memoryJournal } from '@svc/sdk'
import { describe, expect, it } from 'vitest'
import { askedAmount } from '../../src/purchases/approve-payment.ts'
import { beginPurchase, endPurchase } from '../../src/purchases/pay-once.ts'

const buyer = { seller: 'https://gateway.example', address: 'me' }

describe('unfinished purchases', () => {
  it('are resumed by the same order until they end', async () => {
    const journal = memoryJournal()
    const first = await beginPurchase(journal, buyer, '--units 1', 0)
    expect(first).toMatchObject({ since: null, others: [] })
    const again = await beginPurchase(journal, buyer, '--units 1', 5000)
    expect(again).toEqual({ intent: first.intent, since: '1970-01-01T00:00:00.000Z', others: [] })
    await endPurchase(journal, buyer, first.intent)
    expect((await beginPurchase(journal, buyer, '--units 1', 9000)).intent).not.toBe(first.intent)
  })

  it('are separate for each order, buyer and seller, and are listed when the buyer begins another', async () => {
    const journal = memoryJournal()
    const one = await beginPurchase(journal, buyer, '--units 1', 0)
    const two = await beginPurchase(journal, buyer, '--units 2', 0)
    expect(two).toMatchObject({ since: null, others: [{ intent: one.intent, order: '--units 1' }] })
    for (const stranger of [
      { ...buyer, address: 'you' },
      { ...buyer, seller: 'https://b.example' },
    ])
      expect(await beginPurchase(journal, stranger, '--units 1', 0)).toMatchObject({ since: null, others: [] })
    await endPurchase(journal, buyer, one.intent)
    expect(await beginPurchase(journal, buyer, '--units 2', 0)).toMatchObject({ intent: two.intent, others: [] })
  })

  it('are one purchase when the same order begins several times at once', async () => {
    const journal = memoryJournal()
    const begun = await Promise.all([0, 0, 0].map((now) => beginPurchase(journal, buyer, '--units 1', now)))
    expect(new Set(begun.map(({ intent }) => intent)).size).toBe(1)
  })
})

function leg(network: string, asset: string, amount: string, name: string, decimals: number): PaymentLeg {
  const extra = { name, decimals, human_amount: '0.01', pay_req_id: '', quote_schema: 'svc_quote_v4' } as const
  return { scheme: 'exact', network, amount, asset, payTo: '', maxTimeoutSeconds: 300, extra }
}

describe('the amount of a payment', () => {
  it('is shown with its ticker, and with the token address for an unknown token', () => {
    for (const { network, ticker, decimals, address } of ASSETS) {
      const amount = `25${'0'.repeat(decimals)}`
      const isKnown = typeof address === 'string'
      const text = askedAmount(leg(network.caip2, isKnown ? address : 'Token', amount, ticker, decimals))
      expect(text).toBe(isKnown ? `25 ${ticker}` : `25 ${ticker} (the token Token)`)
    }
  })
})
