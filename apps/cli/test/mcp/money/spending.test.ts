import type { PaymentLeg } from '@svc/api/quote'
import type { TransactionOutcome } from '@svc/protocol/transaction-outcome'
import { memoryJournal, type SignedPayment } from '@svc/sdk'
import { describe, expect, it } from 'vitest'
import { createSpending } from '../../../src/mcp/money/spending.ts'

const DAY = '2026-11-15'
const LIMITS = { perPurchase: 1_000_000n, perDay: 1_000_000n, coins: { SOL: null, MON: null } }

/** A leg of this many millionths of a dollar. */
const usdc = (amount: number) =>
  ({
    network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    amount: String(amount),
    extra: { name: 'USDC', decimals: 6, human_amount: String(amount / 1e6) },
  }) as PaymentLeg

const signedAs = (tx: string): SignedPayment => ({ tx, raw: 'bytes', life: {} })

function setUp() {
  /** The outcome of each transaction on chain; a missing one means that the node does not answer. */
  const outcomes = new Map<string, TransactionOutcome>()
  const spending = createSpending({
    journal: memoryJournal(),
    address: 'payer',
    limits: LIMITS,
    today: () => DAY,
    async outcomeOf({ tx }) {
      const outcome = outcomes.get(tx)
      if (!outcome) throw new Error('the node does not answer')
      return outcome
    },
  })
  const purchase = { seller: 'https://gateway.example', intent: 'photos' }
  const other = { ...purchase, intent: 'music' }
  const pay = (amount: number, signed: readonly string[] = [], replaced: string | null = null, of = purchase) =>
    spending.count(of, {
      leg: usdc(amount),
      fee: null,
      replaced: replaced === null ? null : signedAs(replaced),
      signed: signed.map(signedAs),
    })
  const amounts = async () => (await spending.on(DAY)).map(({ micro_usd }) => Number(micro_usd))
  const isAllowed = (amount: number) =>
    spending.check(other, usdc(amount)).then(
      () => true,
      () => false,
    )
  return { outcomes, spending, purchase, pay, amounts, isAllowed }
}

describe('the sum that counts against the daily limit', () => {
  it('T-46 includes a payment that seemed lost once it lands after the next one', async () => {
    const { outcomes, pay, amounts, isAllowed } = setUp()
    await pay(300_000)
    outcomes.set('A', 'expired')
    await pay(300_000, ['A'])
    expect(await amounts()).toEqual([300_000])
    outcomes.set('A', 'landed')
    expect(await amounts()).toEqual([300_000, 300_000])
    expect([await isAllowed(400_000), await isAllowed(400_001)]).toEqual([true, false])
  })

  it('T-46 includes each payment of an intent that may still land, even while no node answers', async () => {
    const { outcomes, pay, amounts } = setUp()
    await pay(300_000)
    await pay(300_000, ['A'])
    await pay(400_000, ['A', 'B', 'B'])
    expect(await amounts()).toEqual([300_000, 300_000, 400_000])
    await expect(pay(1, ['A', 'B', 'C'])).rejects.toThrow('the limit for a day is $1.00')
    outcomes.set('A', 'failed').set('B', 'expired').set('C', 'pending')
    await pay(100_000, ['A', 'B', 'C'])
    expect(await amounts()).toEqual([400_000, 100_000])
  })

  it('T-46 includes the higher of two payments of which only one can land', async () => {
    const { pay, amounts } = setUp()
    await pay(300_000)
    await pay(310_000, ['A'], 'A')
    await pay(305_000, ['A', 'B'], 'B')
    expect(await amounts()).toEqual([310_000])
  })

  it('excludes a payment that was approved and never signed', async () => {
    const { spending, purchase, pay, amounts } = setUp()
    await pay(300_000)
    await pay(400_000)
    expect(await amounts()).toEqual([400_000])
    await spending.uncount(purchase, [])
    expect(await amounts()).toEqual([])
  })

  it('T-46 includes an abandoned payment that lands later', async () => {
    const { outcomes, spending, purchase, pay, amounts } = setUp()
    await pay(300_000)
    outcomes.set('A', 'expired')
    await spending.uncount(purchase, [signedAs('A')])
    expect(await amounts()).toEqual([])
    outcomes.set('A', 'landed')
    expect(await amounts()).toEqual([300_000])
  })
})
