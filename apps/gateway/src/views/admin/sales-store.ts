import { isSqlite } from '@svc/database/prepared'
import { sql } from 'kysely'
import type { Db, RefundTable, SalesPeriodTable, Tx } from '../../db/schema.ts'

/** Any number that no other advisory lock in the same database uses. */
const COUNTING_LOCK = 6_120_448_932

export interface UncountedReceipt {
  receipt_id: string
  /** JSON; null if the receipt is gone. */
  receipt: string | null
  provider: string | null
  pay_req_id: string | null
  expires_at: number | null
  quote: string | null
  template: string | null
}

/** Only one process counts at a time. */
export async function removeUncounted(tx: Tx, limit: number): Promise<UncountedReceipt[]> {
  if (!isSqlite(tx)) await sql`select pg_advisory_xact_lock(${COUNTING_LOCK})`.execute(tx)
  const rows = await tx
    .selectFrom('uncounted_receipts as u')
    .leftJoin('receipts as r', 'r.receipt_id', 'u.receipt_id')
    .leftJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select(['u.receipt_id', 'r.receipt', 'p.provider', 'p.pay_req_id', 'p.expires_at', 'p.quote', 't.template'])
    .limit(limit)
    .execute()
  const ids = rows.map(({ receipt_id }) => receipt_id)
  if (ids.length > 0) await tx.deleteFrom('uncounted_receipts').where('receipt_id', 'in', ids).execute()
  return rows
}

export async function hasUncounted(db: Db): Promise<boolean> {
  return (await db.selectFrom('uncounted_receipts').select('receipt_id').limit(1).executeTakeFirst()) !== undefined
}

export async function countUncounted(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('uncounted_receipts')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

type PeriodKey = Pick<SalesPeriodTable, 'period' | 'start' | 'network' | 'asset' | 'provider'>

export async function findPeriod(db: Db, key: PeriodKey): Promise<SalesPeriodTable | null> {
  const { period, start, network, asset, provider } = key
  const row = db
    .selectFrom('sales_periods')
    .selectAll()
    .where('period', '=', period)
    .where('start', '=', start)
    .where('network', '=', network)
    .where('asset', '=', asset)
    .where('provider', '=', provider)
  return (await row.executeTakeFirst()) ?? null
}

export async function putPeriod(tx: Tx, row: SalesPeriodTable): Promise<void> {
  const { purchases, renewals, units, paid, usd_micros } = row
  await tx
    .insertInto('sales_periods')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['period', 'start', 'network', 'asset', 'provider'])
        .doUpdateSet({ purchases, renewals, units, paid, usd_micros }),
    )
    .execute()
}

export function periodsBetween(
  db: Db,
  period: SalesPeriodTable['period'],
  from: number,
  to: number,
): Promise<SalesPeriodTable[]> {
  return db
    .selectFrom('sales_periods')
    .selectAll()
    .where('period', '=', period)
    .where('start', '>=', from)
    .where('start', '<', to)
    .orderBy('start')
    .orderBy('network')
    .orderBy('asset')
    .orderBy('provider')
    .execute()
}

export async function totalUsdMicros(db: Db): Promise<number> {
  const { total } = await db
    .selectFrom('sales_periods')
    .select(sql<number>`coalesce(sum(usd_micros), 0)`.as('total'))
    .where('period', '=', 'day')
    .executeTakeFirstOrThrow()
  return total
}

/** From `from`, before `to`, and after the last entry of the previous page; times are texts as in `confirmed_at`. */
export interface ReceiptPage {
  from: string
  to: string
  after: { confirmedAt: string; receiptId: string } | null
  limit: number
}

export interface SoldReceipt {
  confirmed_at: string
  receipt_id: string
  /** JSON. */
  receipt: string
  provider: string | null
  pay_req_id: string | null
  expires_at: number | null
  quote: string | null
  template: string | null
}

export function pageOfReceipts(db: Db, { from, to, after, limit }: ReceiptPage): Promise<SoldReceipt[]> {
  return db
    .selectFrom('receipts as r')
    .leftJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select(['r.confirmed_at', 'r.receipt_id', 'r.receipt', 'p.provider', 'p.pay_req_id', 'p.expires_at', 'p.quote'])
    .select('t.template')
    .where('r.confirmed_at', '>=', from)
    .where('r.confirmed_at', '<', to)
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('r.confirmed_at', 'r.receipt_id'), '>', tuple(after!.confirmedAt, after!.receiptId)),
      ),
    )
    .orderBy('r.confirmed_at')
    .orderBy('r.receipt_id')
    .limit(limit)
    .execute()
}

export interface ReceiptPosition {
  confirmed_at: string
  receipt_id: string
}

/** The newest first. */
export function newestReceipts(
  db: Db,
  after: ReceiptPosition | null,
  limit: number,
): Promise<(ReceiptPosition & { receipt: string })[]> {
  return db
    .selectFrom('receipts')
    .select(['confirmed_at', 'receipt_id', 'receipt'])
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('confirmed_at', 'receipt_id'), '<', tuple(after!.confirmed_at, after!.receipt_id)),
      ),
    )
    .orderBy('confirmed_at', 'desc')
    .orderBy('receipt_id', 'desc')
    .limit(limit)
    .execute()
}

export function refundsBetween(db: Db, from: string, to: string): Promise<RefundTable[]> {
  const refunds = db.selectFrom('refunds').selectAll().where('decided_at', '>=', from).where('decided_at', '<', to)
  return refunds.orderBy('decided_at').orderBy('tx').orderBy('position').execute()
}
