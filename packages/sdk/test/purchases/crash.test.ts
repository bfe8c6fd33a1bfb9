import { describe, expect, it } from 'vitest'
import { type Journal, memoryJournal } from '../../src/journal.ts'
import { fileJournal } from '../../src/node/file-journal.ts'
import { interruptPurchase } from '../buyers.ts'
import { useFolder } from '../lockers.ts'
import { useMarket } from '../market.ts'

const market = useMarket()
const folder = useFolder()

describe.each([
  ['SOL', 'SOL', () => market.solana(0)],
  ['USDC', 'USDC on EVM', () => market.evm(0)],
] as const)('a buyer with %s (%s)', (asset, held, buyerOf) => {
  it.each(['before', 'after'] as const)(
    'PAY-55 pays once if it is interrupted %s any step and resumed',
    { tags: ['nightly'] },
    async (when) => {
      for (let effect = 1; ; effect++) {
        const before = await market.treasury(held)
        const { effects, isInterrupted, resume } = await interruptPurchase(market, buyerOf(), asset, { effect, when })
        const { paid_raw } = await resume()
        const paid = (await market.treasury(held)) - before
        expect(paid, `${when} ${effects.length}: ${effects.at(-1)}`).toBe(BigInt(paid_raw))
        if (isInterrupted) continue
        expect(effects).toEqual(expect.arrayContaining(['sign', 'put', 'send', 'outcomeOf', 'fetch']))
        return
      }
    },
  )
})

describe('concurrent buyers with the same intent', () => {
  it.each([
    ['SOL', () => market.solana(2), 'SOL'],
    ['MON', () => market.evm(2), 'MON'],
  ] as const)(
    'PAY-55 T-01 pay once in %s if they share a journal',
    { tags: ['nightly'] },
    async (asset, buyerOf, held) => {
      const journal = fileJournal(folder)
      const before = await market.treasury(held)
      const bought = await Promise.all(
        Array.from({ length: 4 }, () => {
          const buyer = buyerOf()
          const order = { intent: `at once ${asset}`, units: 1, asset, wallet: buyer.wallet }
          return market.clientOf(buyer, journal).buy(order)
        }),
      )
      expect(new Set(bought.map(({ receipt_id }) => receipt_id)).size).toBe(1)
      expect((await market.treasury(held)) - before).toBe(BigInt(bought[0]!.receipt.paid_raw))
    },
  )
})

it('PAY-55 a purchase is paid once even if the journal cannot be written after the payment', async () => {
  const buyer = market.solana(1)
  const kept = memoryJournal()
  const full: Journal = {
    get: kept.get,
    async put(key, value, expected) {
      if (value?.includes('receipt_id')) throw new Error('no space left')
      return kept.put(key, value, expected)
    },
  }
  const order = { intent: 'full', units: 1, asset: 'SOL', wallet: buyer.wallet }
  const buy = (journal: Journal) => market.clientOf(buyer, journal).buy(order)
  const before = await market.treasury('SOL')
  const expected = { name: 'PaymentError', money: 'moved', tx: expect.any(String) }
  for (let i = 0; i < 2; i++) await expect(buy(full)).rejects.toMatchObject(expected)
  const { receipt } = await buy(kept)
  expect((await market.treasury('SOL')) - before).toBe(BigInt(receipt.paid_raw))
})

it.each([
  ['SOL', () => market.solana(3)],
  ['MON', () => market.evm(3)],
] as const)(
  'PAY-55 PAY-45 a buyer with %s and without a journal gets the paid receipt while the gateway stores the idempotency key',
  async (asset, buyerOf) => {
    const buyer = buyerOf()
    const buy = () => market.clientOf(buyer).buy({ intent: 'lost', units: 1, asset, wallet: buyer.wallet })
    const before = await market.treasury(asset)
    const first = await buy()
    expect(await buy()).toEqual(first)
    market.advance(3600)
    expect(await buy()).toEqual(first)
    expect((await market.treasury(asset)) - before).toBe(BigInt(first.receipt.paid_raw))
  },
)
