import type { Quote } from '@svc/api/purchases'
import { describe, expect, it } from 'vitest'
import { type Buyer, useMarket } from '../market.ts'

const market = useMarket()

async function bought(buyer: Buyer, intent: string) {
  const client = market.clientOf(buyer)
  return { client, locker: await client.buy({ intent, units: 1, wallet: buyer.wallet, asset: 'USDC' }) }
}

describe('renewing a locker', () => {
  it('ADD-17 PAY-52 pays once for an intent and extends the locker, whose receipt does not change', async () => {
    const buyer = market.solana()
    const { client, locker } = await bought(buyer, 'a locker to renew')
    const before = await client.usage(locker)
    const treasury = await market.treasury('USDC')
    const renewal = { intent: 'its second year', units: before.renewal_units, wallet: buyer.wallet, asset: 'USDC' }
    const { receipt } = await client.renew(locker, renewal)
    expect(receipt).toMatchObject({ extends: locker.receipt_id, units: 1 })
    expect(await client.renew(locker, renewal)).toEqual({ receipt })
    expect((await market.treasury('USDC')) - treasury).toBe(250_000n)
    const after = await client.usage(locker)
    expect(Date.parse(after.expires_at) - Date.parse(before.expires_at)).toBe(365 * 86_400_000)
    expect(after.purchases.map(({ kind, receipt_id }) => [kind, receipt_id])).toEqual([
      ['purchase', locker.receipt_id],
      ['renewal', receipt.receipt_id],
    ])
    expect((await client.checkPayment(receipt.receipt_id)).differing).toEqual([])
  })

  it('T-57 T-67 pays nothing for a quote for another locker or for none', async () => {
    const buyer = market.solana()
    const { client, locker } = await bought(buyer, 'a locker that is not renewed')
    const treasury = await market.treasury('USDC')
    for (const renewal of [undefined, { receipt_id: `rcpt_${'0'.repeat(32)}` }]) {
      market.proxy.behave()
      market.proxy.always(/storage\/request/, {
        lie: (quote: Quote) => ({ ...quote, extensions: { svc: { ...quote.extensions.svc, renewal } } }),
      })
      const attempt = client.renew(locker, { intent: 'cheated', units: 1, wallet: buyer.wallet, asset: 'USDC' })
      await expect(attempt).rejects.toThrow('for another locker')
    }
    expect(await market.treasury('USDC')).toBe(treasury)
  })
})
