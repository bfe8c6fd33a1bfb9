import type { PaymentLeg } from '@svc/api/quote'
import { describe, expect, it } from 'vitest'
import { dollarsOf, dollarText, microDollars } from '../../../src/mcp/money/dollars.ts'

const limits = { perPurchase: 0n, perDay: 0n, coins: { SOL: 150_000_000n, MON: null } }
const leg = (network: string, asset: string, amount: string) =>
  ({ network, asset, amount, extra: { name: 'USDC', decimals: 18, human_amount: '0.01' } }) as PaymentLeg

const PRIMARY = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
const SOL = 'So11111111111111111111111111111111111111112'

describe('the dollar value of a payment', () => {
  it('is the raw amount for a dollar token at its known address, even if the quote states other decimals', () => {
    expect(dollarsOf(leg(PRIMARY, USDC, '250000'), limits)).toBe(250_000n)
    expect(dollarsOf(leg('eip155:143', '0x754704Bc059F8C67012fEd69BC8A327a5aafb603', '7'), limits)).toBe(7n)
  })

  it('follows the configured price of a coin, rounded up', () => {
    expect(dollarsOf(leg(PRIMARY, SOL, '1000000000'), limits)).toBe(150_000_000n)
    expect(dollarsOf(leg(PRIMARY, SOL, '1'), limits)).toBe(1n)
  })

  it('is unknown for other tokens, other chains and coins without a configured price', () => {
    for (const [network, asset] of [
      [PRIMARY, '7vfCXTUXx5WJV5JADk17DUJ4ksgau7utNKj4b963voxs'],
      [PRIMARY, USDC.toLowerCase()],
      ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1', USDC],
      ['eip155:1', '0x754704bc059f8c67012fed69bc8a327a5aafb603'],
      ['eip155:143', '0x0000000000000000000000000000000000000000'],
    ] as const)
      expect(dollarsOf(leg(network, asset, '1'), limits), `${network} ${asset}`).toBeNull()
  })
})

describe('dollars as text', () => {
  it.each([
    ['0', 0n, '0.00'],
    ['1', 1_000_000n, '1.00'],
    ['2.5', 2_500_000n, '2.50'],
    ['0.000001', 1n, '0.000001'],
  ])('are read and written: %s', (text, micro, shown) => {
    expect(microDollars(text)).toBe(micro)
    expect(dollarText(micro)).toBe(shown)
  })

  it('are rejected if they are not a plain decimal amount', () => {
    for (const text of ['', '-1', '1e3', '1.', '.5', '0x10', '1.0000001', ' 1', 'Infinity', '1,5'])
      expect(microDollars(text), text).toBeNull()
  })
})
