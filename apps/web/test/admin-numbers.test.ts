import type { AdminOverview, AdminSales, SalesPeriod } from '@svc/api/operations'
import { describe, expect, it } from 'vitest'
import { addDecimals, displayAmount, sol } from '../src/pages/admin/amounts.ts'
import { largest, stack } from '../src/pages/admin/chart/series.ts'
import { findingsOf } from '../src/pages/admin/sections/findings.ts'
import { bucketOf, seriesOf, startsOf, totalsOf } from '../src/pages/admin/sections/periods.ts'
import { boundsOf, isRange } from '../src/pages/admin/time-range.ts'

const DAY = 86_400
const dayOf = (time: number) => new Date(time * 1000).toISOString().slice(0, 10)

function period(start: string, asset: string, more: Partial<SalesPeriod> = {}): SalesPeriod {
  const counts = { purchases: 1, renewals: 0, units: 2, paid_raw: '250000', paid_amount: '0.25', price_usd: 0.25 }
  return { start, network: 'primary-mainnet', asset, provider: 'gcs', ...counts, ...more }
}

describe('sales as series', () => {
  const sales: AdminSales = {
    from: '2026-01-01T12:00:00Z',
    to: '2026-01-04T00:00:00Z',
    bucket: 'day',
    periods: [
      period('2026-01-01T00:00:00Z', 'USDC'),
      period('2026-01-01T00:00:00Z', 'USDC', { provider: 'walrus', renewals: 2, paid_amount: '0.1' }),
      period('2026-01-03T00:00:00Z', 'SOL', { price_usd: 1 }),
    ],
    uncounted: 0,
  }

  it('ADD-25 has a value for every period, even if nothing was sold', () => {
    const { times, series } = seriesOf(sales, 'asset', 'price_usd')
    expect(times.map(dayOf)).toEqual(['2026-01-01', '2026-01-02', '2026-01-03'])
    expect(series).toEqual([
      { label: 'USDC', values: [0.5, 0, 0] },
      { label: 'SOL', values: [0, 0, 1] },
    ])
    expect(seriesOf(sales, 'provider', 'purchases').series).toEqual([
      { label: 'gcs', values: [1, 0, 1] },
      { label: 'walrus', values: [3, 0, 0] },
    ])
  })

  it('ADD-25 starts weeks on Monday, and counts hours and days in UTC', () => {
    const weeks = startsOf({ from: '2026-01-01T00:00:00Z', to: '2026-01-13T00:00:00Z', bucket: 'week' })
    // 29 December 2025 was a Monday.
    expect(weeks.map(dayOf)).toEqual(['2025-12-29', '2026-01-05', '2026-01-12'])
    const hours = startsOf({ from: '2026-01-01T10:30:00Z', to: '2026-01-01T12:00:00Z', bucket: 'hour' })
    expect(hours).toEqual(['2026-01-01T10:00:00Z', '2026-01-01T11:00:00Z'].map((time) => Date.parse(time) / 1000))
    const buckets = [1, 7, 30, 365].map((days) => bucketOf({ from: 0, to: days * DAY }))
    expect(buckets).toEqual(['hour', 'day', 'day', 'week'])
  })

  it('ADD-25 adds amounts per asset and provider without rounding', () => {
    expect(totalsOf(sales.periods).map(({ asset, provider, paid }) => [asset, provider, paid])).toEqual([
      ['SOL', 'gcs', '0.25'],
      ['USDC', 'gcs', '0.25'],
      ['USDC', 'walrus', '0.1'],
    ])
    expect(addDecimals('0.1', '0.2')).toBe('0.3')
    expect(addDecimals('999999999999999999', '0.000000000000000001')).toBe('999999999999999999.000000000000000001')
    expect(addDecimals('0.5', '0.5')).toBe('1')
    const shown = [displayAmount('1234567890', 6), displayAmount('5', 18), displayAmount('40', 0), sol(5_000)]
    expect(shown).toEqual(['1,234.56789', '0.000000000000000005', '40', '0.000005 SOL'])
  })
})

describe('a chart', () => {
  const series = [
    { label: 'a', values: [1, 2] },
    { label: 'b', values: [3, null] },
    { label: 'c', values: [5, 6] },
  ]

  it('ADD-25 stacks the visible series, and merges the smallest into one', () => {
    expect(stack(series, () => true)).toEqual([
      [1, 2],
      [4, 2],
      [9, 8],
    ])
    expect(stack(series, (i) => i !== 0)).toEqual([
      [null, null],
      [3, 0],
      [8, 6],
    ])
    expect(largest(series, 2, 'Other')).toEqual([
      { label: 'c', values: [5, 6] },
      { label: 'Other', values: [4, 2] },
    ])
    expect(largest(series, 3, 'Other').map(({ label }) => label)).toEqual(['c', 'a', 'b'])
  })
})

describe('a range of time', () => {
  it('ADD-25 consists of whole days, in order, and is at most 20 years long', () => {
    expect(boundsOf('2026-01-01..2026-01-01', 0)).toEqual({
      from: Date.parse('2026-01-01T00:00:00Z') / 1000,
      to: Date.parse('2026-01-02T00:00:00Z') / 1000,
    })
    expect(boundsOf('7d', 8 * DAY)).toEqual({ from: DAY, to: 8 * DAY })
    const wrong = ['', 'constructor', '2026-01-02..2026-01-01', '2026-13-01..2026-14-01', '1990-01-01..2026-01-01']
    expect(wrong.filter(isRange)).toEqual([])
    expect(['24h', '7d', '30d', '1y', '2026-01-01..2026-01-31'].every(isRange)).toBe(true)
  })
})

describe('the list of findings', () => {
  const well = {
    providers: [{ provider: 'gcs', healthy: true }],
    chains: [
      { network: 'primary-mainnet', state: 'ok' },
      { network: 'evm-mainnet', state: 'disabled' },
    ],
    jobs: { waiting: 0, delayed: 0, running: 0, dead: 0, by_kind: {} },
    budgets: [],
    anchors: null,
    attestations: { counts: {}, oldest_nonfinal_age_sec: 20, nonfinal_unknown_age: 0 },
    price_feed: { state: 'disabled', prices: [] },
  } as unknown as AdminOverview // only what `findingsOf` reads

  it('ADD-25 shows the worst first, each with a link to its section, and is empty if everything works', () => {
    expect(findingsOf({ overview: well, audit: null, overTerms: null, unclaimed: null })).toEqual([])
    const overview = {
      ...well,
      providers: [{ provider: 'gcs', healthy: false }],
      chains: [{ network: 'primary-mainnet', state: 'failing' }],
      jobs: { ...well.jobs, dead: 2 },
      attestations: { ...well.attestations, oldest_nonfinal_age_sec: 7_300 },
      price_feed: { state: 'failing', prices: [] },
    } as AdminOverview
    const audit = { chain: { intact: false, entries: 4, head: null, broken_at: 3, checked_at: '2026-01-01T00:00:00Z' } }
    const found = findingsOf({ overview, audit, overTerms: { lockers: [1] }, unclaimed: { payments: [1, 2] } })
    const bad = ['bad #audit', 'bad #providers', 'bad #providers', 'bad #prices', 'bad #jobs?state=dead']
    expect(found.map(({ tone, to }) => `${tone} ${to}`)).toEqual([
      ...bad,
      'warn #attestations',
      'warn #payments',
      'warn #lockers',
    ])
    expect(found[5]?.text).toBe('The oldest unfinished attestation is 2 hours old.')
    const substituted = { ...well, price_feed: { state: 'degraded', prices: [] } } as AdminOverview
    expect(findingsOf({ overview: substituted, audit: null, overTerms: null, unclaimed: null })).toMatchObject([
      { tone: 'warn', to: '#prices' },
    ])
  })
})
