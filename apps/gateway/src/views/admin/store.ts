import type { Selectable } from 'kysely'
import type { Db, Locker, PaymentTransactionTable, RefundTable, Tx } from '../../db/schema.ts'

export interface LockerSearch {
  by: 'all' | 'locker' | 'receipt' | 'transaction' | 'wallet'
  text: string
  after: { createdAt: string; lockerId: string } | null
  limit: number
}

/** The newest first. */
export function searchLockers(db: Db, { by, text, after, limit }: LockerSearch): Promise<Locker[]> {
  return db
    .selectFrom('lockers')
    .selectAll()
    .where(({ eb, lit, or, selectFrom }) => {
      if (by === 'all') return lit(true)
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
