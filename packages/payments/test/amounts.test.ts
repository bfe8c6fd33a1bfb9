import { ASSETS, findAsset } from '@svc/api/assets'
import { networkNamed } from '@svc/api/networks'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import { displayAmount, legAmount, multiplyUsd, parseDecimal } from '../src/amounts.ts'

const { quote_amounts: quote } = vectors
const decimals = fc.integer({ min: 0, max: 18 })
const raw = fc.bigInt({ min: 0n, max: 10n ** 30n })
const positive = fc.bigInt({ min: 1n, max: 10n ** 24n })

describe('the amounts of a leg', () => {
  it('PAY-29 total = unit price × units, without a float in between', () => {
    expect(multiplyUsd(quote.unit_price_usd, quote.units)).toBe(quote.total_usd)
    expect(multiplyUsd('0.1', 3)).toBe('0.3')
    expect(multiplyUsd('1.10', 1_000_000)).toBe('1100000')
    expect(multiplyUsd('0', 7)).toBe('0')
  })

  it('T-22 is the smallest amount that is worth the total', () => {
    fc.assert(
      fc.property(positive, decimals, positive, decimals, decimals, (total, totalScale, rate, rateScale, places) => {
        const amount = legAmount({
          totalUsd: displayAmount(total, totalScale),
          units: 1,
          asset: { decimals: places, pricing: { by: 'oracle', symbol: 'SOL', feed: '' } },
          usdRate: displayAmount(rate, rateScale),
        })
        const worth = (units: bigint) => units * rate * 10n ** BigInt(totalScale)
        const wanted = total * 10n ** BigInt(places + rateScale)
        expect(worth(amount)).toBeGreaterThanOrEqual(wanted)
        expect(worth(amount - 1n)).toBeLessThan(wanted)
      }),
    )
  })

  it('PAY-17 T-22 is never 0, even for the smallest total', () => {
    for (const totalUsd of ['0', '0.00', '0.0000000000000000000000001']) {
      for (const asset of ASSETS) {
        const amount = legAmount({ totalUsd, units: 1, asset, usdRate: '100000' })
        expect(amount.toString()).toMatch(/^[1-9]\d*$/)
      }
    }
  })

  it('T-22 is exact for the largest order', () => {
    const asset = findAsset(networkNamed('evm-mainnet')!, 'MON')!
    const totalUsd = multiplyUsd('999999.999999', 1_000_000)
    expect(legAmount({ totalUsd, units: 1_000_000, asset, usdRate: '0.00000001' })).toBe(
      99_999_999_999_900_000_000n * 10n ** 18n,
    )
  })

  it('T-22 throws for a rate that is missing, zero, negative or not a number', () => {
    for (const usdRate of [null, '0', '0.000', '-1', 'NaN', 'Infinity', '1e3', '']) {
      expect(() => legAmount({ totalUsd: '1', units: 1, asset: ASSETS[0]!, usdRate })).toThrow(RangeError)
    }
  })
})

describe('decimal text', () => {
  it('PAY-21 displays what it reads and reads what it displays', () => {
    fc.assert(
      fc.property(raw, decimals, (amount, places) => {
        const text = displayAmount(amount, places)
        const { digits, scale } = parseDecimal(text)!
        expect(digits * 10n ** BigInt(places - scale)).toBe(amount)
        expect(displayAmount(digits, scale)).toBe(text)
        expect(text).not.toMatch(/\..*0$|\.$|^\./)
      }),
    )
  })

  it.each(['', '.', '1.', '.5', '01', '-1', '+1', '1e3', ' 1', '1\n', '1,5', '0x1', 'NaN', '١', '9'.repeat(41)])(
    '"%s" is refused',
    (text) => {
      expect(parseDecimal(text)).toBeNull()
    },
  )
})
