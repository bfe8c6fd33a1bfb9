// Sales over time. A job adds new receipts to their hour and day, so that a chart of a million receipts reads a few
// hundred rows.

import { findAsset } from '@svc/api/assets'
import type { Query } from '@svc/api/endpoint'
import { networkNamed } from '@svc/api/networks'
import type { AdminSales, adminSales, SalesPeriod } from '@svc/api/operations'
import type { Quote } from '@svc/api/purchases'
import { displayAmount } from '@svc/payments/amounts'
import { storedBody } from '@svc/payments/selling/quote-template'
import { isoSeconds, unixSeconds } from '@svc/protocol/evidence'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { ServiceError } from '@svc/service/service-error'
import { type Context, unixNow } from '../../context.ts'
import type { SalesPeriodTable, Tx } from '../../db/schema.ts'
import { readRange } from './ranges.ts'
import {
  countUncounted,
  findPeriod,
  hasUncounted,
  periodsBetween,
  putPeriod,
  removeUncounted,
  type SoldReceipt,
  type UncountedReceipt,
} from './sales-store.ts'

const HOUR = 3600
const DAY = 86_400
const BATCH = 500
/** The most batches that a reader waits for. After an outage of the job, the rest is left to the job. */
const READER_BATCHES = 20

export async function countSales(
  { database: { db, commit } }: Pick<Context, 'database'>,
  batches = Infinity,
): Promise<void> {
  for (let i = 0; i < batches; i++) {
    if (!(await hasUncounted(db))) return
    await commit(countBatch)
  }
}

/** Counts the sales of the last minute before a read. If nothing may be written, they are counted later. */
export async function countNewSales(context: Pick<Context, 'database' | 'continuity'>): Promise<void> {
  try {
    context.continuity.assertCurrent()
    await countSales(context, READER_BATCHES)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
  }
}

async function countBatch(tx: Tx): Promise<void> {
  const sums = new Map<string, SalesPeriodTable>()
  for (const row of await removeUncounted(tx, BATCH)) for (const sale of salesOf(row)) addTo(sums, keyOf(sale), sale)
  for (const sale of sums.values()) {
    const before = await findPeriod(tx, sale)
    await putPeriod(tx, before ? sumOf(before, sale) : sale)
  }
}

function addTo(sums: Map<string, SalesPeriodTable>, key: string, sale: SalesPeriodTable): void {
  const before = sums.get(key)
  sums.set(key, before ? sumOf(before, sale) : sale)
}

function keyOf({ period, start, network, asset, provider }: SalesPeriodTable): string {
  return [period, start, network, asset, provider].join(' ')
}

function sumOf(a: SalesPeriodTable, b: SalesPeriodTable): SalesPeriodTable {
  return {
    ...a,
    purchases: a.purchases + b.purchases,
    renewals: a.renewals + b.renewals,
    units: a.units + b.units,
    paid: String(BigInt(a.paid) + BigInt(b.paid)),
    usd_micros: a.usd_micros + b.usd_micros,
  }
}

/** The sale in its hour and in its day. */
function salesOf({ receipt: text, ...row }: UncountedReceipt): SalesPeriodTable[] {
  if (text === null) return []
  const receipt = JSON.parse(text) as SignedReceipt
  const at = unixSeconds(receipt.confirmed_at) ?? 0
  const sale = {
    network: receipt.network,
    asset: receipt.pay_asset,
    provider: row.provider ?? 'unknown',
    purchases: receipt.extends === undefined ? 1 : 0,
    renewals: receipt.extends === undefined ? 0 : 1,
    units: receipt.units,
    paid: receipt.paid_raw,
    usd_micros: Math.round((quotedUsd(row) ?? 0) * 1e6),
  }
  return [
    { period: 'hour', start: at - (at % HOUR), ...sale },
    { period: 'day', start: at - (at % DAY), ...sale },
  ]
}

type PaidQuote = Pick<SoldReceipt, 'pay_req_id' | 'expires_at' | 'quote' | 'template'>

/** Null if the quote is unknown or names no USD amount. */
export function quotedUsd({ pay_req_id, expires_at, quote, template }: PaidQuote): number | null {
  if (pay_req_id === null || expires_at === null || quote === null) return null
  const body = storedBody({ pay_req_id, expires_at, quote, template })
  return (JSON.parse(body) as Partial<Quote>).extensions?.svc?.price_summary?.total_usd ?? null
}

type Bucket = AdminSales['bucket']

const RANGES: Record<Bucket, { defaultDays: number; maxDays: number }> = {
  hour: { defaultDays: 2, maxDays: 62 },
  day: { defaultDays: 30, maxDays: 3 * 366 },
  week: { defaultDays: 365, maxDays: 20 * 366 },
}

export async function readSales(context: Context, query: Query<typeof adminSales>): Promise<AdminSales> {
  const { bucket = 'day' } = query
  const { from, to } = readRange(query, { now: unixNow(context), ...RANGES[bucket] })
  await countNewSales(context)
  const { db } = context.database
  const rows = await periodsBetween(db, bucket === 'hour' ? 'hour' : 'day', startOf(from, bucket), to)
  const sums = new Map<string, SalesPeriodTable>()
  for (const row of rows) {
    const sale = { ...row, start: startOf(row.start, bucket) }
    addTo(sums, keyOf(sale), sale)
  }
  return {
    from: isoSeconds(from),
    to: isoSeconds(to),
    bucket,
    periods: [...sums.values()].map(salesPeriod),
    uncounted: await countUncounted(db),
  }
}

/** A week starts on Monday; day 0 was a Thursday. */
function startOf(time: number, bucket: Bucket): number {
  if (bucket === 'hour') return time - (time % HOUR)
  const day = Math.floor(time / DAY)
  return (bucket === 'day' ? day : day - ((day + 3) % 7)) * DAY
}

function salesPeriod({ start, paid, usd_micros, period: _, ...sale }: SalesPeriodTable): SalesPeriod {
  return {
    ...sale,
    start: isoSeconds(start),
    paid_raw: paid,
    paid_amount: displayedAmount(sale.network, sale.asset, paid),
    price_usd: usd_micros / 1e6,
  }
}

/** In display units; in atomic units for an asset that this release does not know. */
export function displayedAmount(networkName: string, ticker: string, raw: string): string {
  const network = networkNamed(networkName)
  const asset = network && findAsset(network, ticker)
  return asset ? displayAmount(BigInt(raw), asset.decimals) : raw
}
