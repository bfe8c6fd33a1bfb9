import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Selectable } from 'kysely'
import type { Db, PayRequest, ReceiptTable, SubscriptionRow, Tx } from '../db/schema.ts'

export async function insertPayRequest(tx: Tx, request: PayRequest): Promise<void> {
  await tx.insertInto('pay_requests').values(request).execute()
}

export async function findPayRequest(db: Db, payReqId: string): Promise<PayRequest | null> {
  return (await db.selectFrom('pay_requests').selectAll().where('pay_req_id', '=', payReqId).executeTakeFirst()) ?? null
}

/** Locked until the end of the transaction: a quote is paid once. */
export async function lockPayRequest(db: Db, payReqId: string): Promise<void> {
  await db
    .selectFrom('pay_requests')
    .select('pay_req_id')
    .where('pay_req_id', '=', payReqId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export interface Purchase extends Omit<Selectable<ReceiptTable>, 'receipt'> {
  receipt: SignedReceipt
}

export async function findPurchase(db: Db, payReqId: string): Promise<Purchase | null> {
  const row = await db.selectFrom('receipts').selectAll().where('pay_req_id', '=', payReqId).executeTakeFirst()
  return row ? { ...row, receipt: JSON.parse(row.receipt) } : null
}

/** False when the transaction has already paid another quote. */
export async function insertPurchase(tx: Tx, { receipt, ...row }: Purchase): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('receipts')
    .values({ ...row, receipt: JSON.stringify(receipt) })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

export async function findSubscription(db: Db, identity: string): Promise<SubscriptionRow | null> {
  const row = await db.selectFrom('subscriptions').selectAll().where('identity', '=', identity).executeTakeFirst()
  return row ?? null
}

/**
 * The subscription of an identity, locked until the end of the transaction. If there is none, inserts one that has
 * already expired.
 */
export async function lockSubscription(tx: Tx, identity: string, subscriptionId: string): Promise<SubscriptionRow> {
  return tx
    .insertInto('subscriptions')
    .values({ identity, subscription_id: subscriptionId, starts_at: 0, expires_at: 0 })
    .onConflict((conflict) =>
      conflict.column('identity').doUpdateSet((eb) => ({ expires_at: eb.ref('subscriptions.expires_at') })),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function setSubscription(tx: Tx, { identity, starts_at, expires_at }: SubscriptionRow): Promise<void> {
  await tx.updateTable('subscriptions').set({ starts_at, expires_at }).where('identity', '=', identity).execute()
}

/** The end of the n-th newest quote that ended before that time; null if there are fewer. */
export async function nthEndBefore(db: Db, before: number, n: number): Promise<number | null> {
  const row = await db
    .selectFrom('pay_requests')
    .select('expires_at')
    .where('expires_at', '<', before)
    .orderBy('expires_at', 'desc')
    .offset(n - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.expires_at ?? null
}

/** Deletes up to `limit` unpaid quotes that expired before that time; returns how many. */
export async function deleteUnpaid(tx: Tx, before: number, limit: number): Promise<number> {
  const old = tx
    .selectFrom('pay_requests')
    .leftJoin('receipts', 'receipts.pay_req_id', 'pay_requests.pay_req_id')
    .select('pay_requests.pay_req_id')
    .where('pay_requests.expires_at', '<', before)
    .where('receipts.pay_req_id', 'is', null)
    .limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('pay_requests').where('pay_req_id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
