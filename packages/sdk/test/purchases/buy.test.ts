import { receiptId } from '@svc/protocol/ids'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryJournal } from '../../src/journal.ts'
import { type Buyer, type Market, openMarket } from '../market.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

const clientOf = ({ signer }: Buyer, journal = memoryJournal()) =>
  market.client({ signer, journal, pinnedKeys: [market.key] })

describe.each([
  ['SOL', 'SOL', () => market.solana()],
  ['USDC', 'USDC', () => market.solana()],
  ['MON', 'MON', () => market.evm()],
  ['USDC', 'USDC on EVM', () => market.evm()],
] as const)('buying with %s (%s)', (asset, held, buyerOf) => {
  it('GEN-09 PAY-47 PAY-52 PAY-55 LOCK-01 pays the quoted amount once and opens the locker', async () => {
    const buyer = buyerOf()
    const client = clientOf(buyer)
    const before = await market.treasury(held)
    const purchase = {
      intent: `a locker for ${held}`,
      units: 2,
      provider: 'mongodb',
      wallet: buyer.wallet,
      asset,
    } as const
    const bought = await client.buy(purchase)
    const { receipt } = bought
    expect((await market.treasury(held)) - before).toBe(BigInt(receipt.paid_raw))
    expect(receipt).toMatchObject({ pay_asset: asset, units: 2, payer_pubkey: buyer.wallet.address })
    expect(bought.receipt_id).toBe(receiptId(receipt.pay_req_id, receipt.tx_hash))
    expect(await client.buy(purchase)).toEqual(bought)
    expect((await market.treasury(held)) - before).toBe(BigInt(receipt.paid_raw))
  })

  it('ADD-03 makes a payment that names its quote, so no other quote can claim it', async () => {
    const buyer = buyerOf()
    const client = clientOf(buyer)
    const [mine, other] = [await client.quote({ units: 1 }), await client.quote({ units: 1 })]
    const payment = await client.pay(mine, buyer.wallet, { asset })
    const stolen = other.accepts.find(({ network, extra }) => network === payment.leg.network && extra.name === asset)!
    await expect(client.confirm({ leg: stolen, tx: payment.tx })).rejects.toMatchObject({
      name: 'PaymentError',
      cause: { details: { reason: 'names_another_quote' } },
    })
    expect((await client.confirm(payment)).tx_hash).toBe(payment.tx)
  })

  it('PAY-55 returns the same payment when a quote is paid again', async () => {
    const buyer = buyerOf()
    const client = clientOf(buyer)
    const quote = await client.quote({ units: 1 })
    const before = await market.treasury(held)
    const first = await client.pay(quote, buyer.wallet, { asset })
    expect(await client.pay(quote, buyer.wallet, { asset })).toEqual(first)
    expect((await market.treasury(held)) - before).toBe(BigInt(first.leg.amount))
  })
})
