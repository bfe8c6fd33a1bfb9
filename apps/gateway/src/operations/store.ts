import { setImmediate } from 'node:timers/promises'
import { isSqlite } from '@svc/database/prepared'
import { type Selectable, sql, type Transaction } from 'kysely'
import type {
  AuditLogTable,
  Db,
  GrowthSampleTable,
  Locker,
  PaymentTransactionTable,
  RefundTable,
  SalesPeriodTable,
  Schema,
} from '../db/schema.ts'

type Tx = Transaction<Schema>

// The audit log

/** Any numbers that no other advisory lock in the same database uses. */
const AUDIT_LOCK = 6_120_448_931
const COUNTING_LOCK = 6_120_448_932

/** Until the transaction ends. SQLite has one writer anyway. */
export async function lockAuditLog(tx: Tx): Promise<void> {
  if (!isSqlite(tx)) await sql`select pg_advisory_xact_lock(${AUDIT_LOCK})`.execute(tx)
}

export async function lastAuditRow(db: Db): Promise<AuditLogTable | null> {
  const last = db.selectFrom('audit_log').selectAll().orderBy('sequence', 'desc').limit(1)
  return (await last.executeTakeFirst()) ?? null
}

export async function insertAuditRow(tx: Tx, row: AuditLogTable): Promise<void> {
  await tx.insertInto('audit_log').values(row).execute()
}

/** The newest first. */
export function pageOfAuditLog(
  db: Db,
  { target, before, limit }: { target: string | null; before: number | null; limit: number },
): Promise<AuditLogTable[]> {
  return db
    .selectFrom('audit_log')
    .selectAll()
    .$if(target !== null, (query) => query.where('target', '=', target))
    .$if(before !== null, (query) => query.where('sequence', '<', before))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

/** In order. */
export function rowsAfter(db: Db, sequence: number, limit: number): Promise<AuditLogTable[]> {
  const rows = db.selectFrom('audit_log').selectAll().where('sequence', '>', sequence)
  return rows.orderBy('sequence').limit(limit).execute()
}

/** The newest entry about something that was done. */
export async function findDone(db: Db, action: string, target: string): Promise<AuditLogTable | null> {
  const done = db
    .selectFrom('audit_log')
    .selectAll()
    .where('target', '=', target)
    .where('action', '=', action)
    .where('outcome', '=', 'done')
  return (await done.orderBy('sequence', 'desc').limit(1).executeTakeFirst()) ?? null
}

// Totals and growth

export interface LockerTotals {
  lockers: number
  files: number
  bytes: number
}

const LOCKERS_AT_ONCE = 5000

/** In steps: SQLite would block the whole process while it adds up a million rows. */
export async function addUpLockers(db: Db): Promise<LockerTotals> {
  const totals = { lockers: 0, files: 0, bytes: 0 }
  for (let after = ''; ; ) {
    const page = db
      .selectFrom('lockers')
      .select(['locker_id', 'file_count', 'total_bytes', 'unconfirmed_bytes'])
      .where('locker_id', '>', after)
      .orderBy('locker_id')
      .limit(LOCKERS_AT_ONCE)
    const sums = await db
      .selectFrom(page.as('page'))
      .select(({ fn }) => [
        fn.countAll<number>().as('lockers'),
        sql<number>`coalesce(sum(file_count), 0)`.as('files'),
        sql<number>`coalesce(sum(total_bytes + unconfirmed_bytes), 0)`.as('bytes'),
        fn.max('locker_id').as('last'),
      ])
      .executeTakeFirstOrThrow()
    totals.lockers += sums.lockers
    totals.files += sums.files
    totals.bytes += sums.bytes
    if (sums.lockers < LOCKERS_AT_ONCE) return totals
    after = sums.last
    await setImmediate()
  }
}

export async function countRestricted(db: Db): Promise<{ frozen: number; taken_down: number }> {
  const rows = await db
    .selectFrom('lockers')
    .select(({ fn }) => ['restriction', fn.countAll<number>().as('count')])
    .where('restriction', 'is not', null)
    .groupBy('restriction')
    .execute()
  const of = (state: Locker['restriction']) => rows.find(({ restriction }) => restriction === state)?.count ?? 0
  return { frozen: of('frozen'), taken_down: of('taken_down') }
}

/** An hour has one. */
export async function insertSample(db: Db, sample: GrowthSampleTable): Promise<void> {
  await db
    .insertInto('growth_samples')
    .values(sample)
    .onConflict((conflict) => conflict.column('sampled_at').doNothing())
    .execute()
}

/** Of the days before then, the first sample stays. */
export async function thinSamples(db: Db, before: number): Promise<void> {
  const day = sql`sampled_at / 86400`
  await db
    .deleteFrom('growth_samples')
    .where('sampled_at', '<', before)
    .where('sampled_at', 'not in', (eb) =>
      eb
        .selectFrom('growth_samples')
        .select(({ fn }) => fn.min<number>('sampled_at').as('first'))
        .groupBy(day),
    )
    .execute()
}

export function samplesBetween(db: Db, from: number, to: number): Promise<GrowthSampleTable[]> {
  const samples = db.selectFrom('growth_samples').selectAll().where('sampled_at', '>=', from)
  return samples.where('sampled_at', '<', to).orderBy('sampled_at').execute()
}

// Sales

export interface UncountedReceipt {
  receipt_id: string
  /** JSON; null where the receipt is gone. */
  receipt: string | null
  provider: string | null
  pay_req_id: string | null
  expires_at: number | null
  quote: string | null
  template: string | null
}

/** Only one process counts at a time. */
export async function takeUncounted(tx: Tx, limit: number): Promise<UncountedReceipt[]> {
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

// Exports

/** From then on, before then, and after the last of the page before; texts as in `confirmed_at`. */
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

export function refundsBetween(db: Db, from: string, to: string): Promise<RefundTable[]> {
  const refunds = db.selectFrom('refunds').selectAll().where('decided_at', '>=', from).where('decided_at', '<', to)
  return refunds.orderBy('decided_at').orderBy('tx').orderBy('position').execute()
}

// Lockers

export async function findLocker(db: Db, lockerId: string): Promise<Locker | null> {
  return (await db.selectFrom('lockers').selectAll().where('locker_id', '=', lockerId).executeTakeFirst()) ?? null
}

export interface LockerSearch {
  by: 'locker' | 'receipt' | 'transaction' | 'wallet'
  text: string
  after: { createdAt: string; lockerId: string } | null
  limit: number
}

/** The newest first. */
export function searchLockers(db: Db, { by, text, after, limit }: LockerSearch): Promise<Locker[]> {
  return db
    .selectFrom('lockers')
    .selectAll()
    .where(({ eb, or, selectFrom }) => {
      if (by === 'locker') return eb('locker_id', '=', text)
      if (by === 'wallet') {
        const operated = selectFrom('locker_operators').select('receipt_id').where('operator', '=', text)
        return or([eb('owner', '=', text), eb('receipt_id', 'in', operated)])
      }
      const receipts = selectFrom('receipts')
        .select('receipt_id')
        .where(by === 'receipt' ? 'receipt_id' : 'tx', '=', text)
      const renewed = selectFrom('renewals').select('locker_id').where('receipt_id', 'in', receipts)
      return or([eb('receipt_id', 'in', receipts), eb('locker_id', 'in', renewed)])
    })
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('created_at', 'locker_id'), '<', tuple(after!.createdAt, after!.lockerId)),
      ),
    )
    .orderBy('created_at', 'desc')
    .orderBy('locker_id', 'desc')
    .limit(limit)
    .execute()
}

// Payments

export async function insertRefund(tx: Tx, refund: RefundTable): Promise<void> {
  await tx.insertInto('refunds').values(refund).execute()
}

export async function setRefundTx(tx: Tx, refund: RefundTable): Promise<void> {
  await tx
    .updateTable('refunds')
    .set({ refund_tx: refund.refund_tx })
    .where('network', '=', refund.network)
    .where('tx', '=', refund.tx)
    .where('position', '=', refund.position)
    .execute()
}

export async function findPayment(
  db: Db,
  network: string,
  tx: string,
): Promise<Selectable<PaymentTransactionTable> | null> {
  const row = db.selectFrom('payment_transactions').selectAll().where('network', '=', network).where('tx', '=', tx)
  return (await row.executeTakeFirst()) ?? null
}
