// Sales as series: one for each asset, provider or network, with a value for every period of the range.

import type { AdminSales, SalesPeriod } from '@svc/api/operations'
import { addDecimals } from '../amounts.ts'
import type { ChartData } from '../chart/series.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
export const STEP_SECONDS = { hour: HOUR, day: DAY, week: 7 * DAY } as const
type Bucket = keyof typeof STEP_SECONDS

export type Dimension = 'asset' | 'provider' | 'network'
export type Measure = 'price_usd' | 'purchases' | 'units'

/** The bucket size that gives a readable number of bars. */
export function bucketOf({ from, to }: { from: number; to: number }): Bucket {
  const days = (to - from) / DAY
  if (days <= 3) return 'hour'
  return days <= 120 ? 'day' : 'week'
}

export function seriesOf(sales: AdminSales, by: Dimension, measure: Measure): ChartData {
  const times = startsOf(sales)
  const at = new Map(times.map((time, i) => [time, i]))
  const values = new Map<string, number[]>()
  for (const period of sales.periods) {
    const row = values.get(period[by]) ?? times.map(() => 0)
    const i = at.get(Date.parse(period.start) / 1000)
    if (i !== undefined) row[i] = (row[i] ?? 0) + measured(period, measure)
    values.set(period[by], row)
  }
  return { times, series: [...values].map(([label, row]) => ({ label, values: row })) }
}

function measured(period: SalesPeriod, measure: Measure): number {
  return measure === 'purchases' ? period.purchases + period.renewals : period[measure]
}

/** The Monday before the epoch. */
const MONDAY = -3 * DAY

/** The start of each period in the range, including empty ones. */
export function startsOf({ from, to, bucket }: Pick<AdminSales, 'from' | 'to' | 'bucket'>): number[] {
  const step = STEP_SECONDS[bucket]
  const offset = bucket === 'week' ? MONDAY : 0
  const first = Math.floor((Date.parse(from) / 1000 - offset) / step) * step + offset
  const end = Date.parse(to) / 1000
  const starts: number[] = []
  for (let start = first; start < end; start += step) starts.push(start)
  return starts
}

interface Total extends Pick<SalesPeriod, 'network' | 'asset' | 'provider'> {
  purchases: number
  renewals: number
  units: number
  /** The sum in display units. */
  paid: string
  usd: number
}

export function totalsOf(periods: readonly SalesPeriod[]): Total[] {
  const totals = new Map<string, Total>()
  for (const { network, asset, provider, purchases, renewals, units, paid_amount, price_usd } of periods) {
    const key = [network, asset, provider].join(' ')
    const sum = totals.get(key) ?? {
      network,
      asset,
      provider,
      purchases: 0,
      renewals: 0,
      units: 0,
      paid: '0',
      usd: 0,
    }
    sum.purchases += purchases
    sum.renewals += renewals
    sum.units += units
    sum.paid = addDecimals(sum.paid, paid_amount)
    sum.usd += price_usd
    totals.set(key, sum)
  }
  return [...totals.values()].sort((a, b) => b.usd - a.usd)
}
