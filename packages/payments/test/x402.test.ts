import { findAsset } from '@svc/api/assets'
import { EVM, PRIMARY } from '@svc/api/networks'
import { paymentReference } from '@svc/protocol/ids'
import { describe, expect, it } from 'vitest'
import vectors from '../../../vectors/protocol.json' with { type: 'json' }
import type { Leg } from '../src/legs.ts'
import type { Rate, Rates } from '../src/prices/price-oracle.ts'
import { priceLegs, x402Leg } from '../src/x402.ts'

const { unit_price_usd, units, total_usd, legs: expected } = vectors.quote_amounts
const rateOf = (ticker: string): Rate => {
  const usd = expected.find((leg) => leg.asset === ticker)!.rate_usd!
  return { usd, source: 'oracle', as_of: '2026-06-12T00:00:00Z', fallback: false }
}
const rates: Rates = { SOL: rateOf('SOL'), MON: rateOf('MON'), ETH: rateOf('WETH') }
const legs = expected.map(({ network, asset }): Leg => {
  const of = findAsset(network === 'primary' ? PRIMARY : EVM, asset)!
  return { of, asset: 'asset', payTo: 'destination', wallet: 'wallet' }
})

describe('legs on the wire', () => {
  it('PAY-14 PAY-17 amounts are those of the vectors', () => {
    expect(Number(unit_price_usd) * units).toBe(Number(total_usd))
    const priced = priceLegs(legs, rates, total_usd, units).map((leg) => x402Leg(leg, 'pr_1'))
    for (const [i, leg] of priced.entries()) {
      expect(leg.amount).toBe(expected[i]!.amount)
      expect(leg.extra).toMatchObject({ human_amount: expected[i]!.human_amount, decimals: expected[i]!.decimals })
    }
    expect(priced).toHaveLength(expected.length)
  })

  it('PAY-24 only oracle-priced legs carry a rate, as a number', () => {
    const priced = priceLegs(legs, rates, total_usd, units).map((leg) => x402Leg(leg, 'pr_1'))
    const withRate = priced.filter((leg) => leg.extra.oracle_rate).map((leg) => leg.extra.name)
    expect(withRate).toEqual(['SOL', 'WETH', 'MON', 'WETH'])
    expect(priced[0]!.extra.oracle_rate).toEqual({ ...rates.SOL, usd: 150.25 })
  })

  it('PAY-28 leaves out a leg without a price', () => {
    const priced = priceLegs(legs, { ...rates, ETH: null }, total_usd, units)
    expect(priced.map(({ of }) => of.ticker)).not.toContain('WETH')
  })

  it('PAY-20 PAY-23 legs have the fixed parts', () => {
    const [first] = priceLegs(legs, rates, total_usd, units)
    const reference = paymentReference('pr_1')
    expect(x402Leg(first!, 'pr_1')).toMatchObject({
      scheme: 'exact',
      maxTimeoutSeconds: 300,
      extra: {
        pay_req_id: 'pr_1',
        quote_schema: 'svc_quote_v4',
        memo: reference,
        paymentFlow: 'upfront',
      },
    })
  })
})
