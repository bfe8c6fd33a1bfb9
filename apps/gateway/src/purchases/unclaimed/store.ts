import type { Db, Tx, UnclaimedPaymentTable } from '../../db/schema.ts'

type Key = Pick<UnclaimedPaymentTable, 'network' | 'tx' | 'asset'>

/** False when it already exists. */
export async function insertUnclaimed(tx: Tx, payment: UnclaimedPaymentTable): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('unclaimed_payments')
    .values(payment)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** Whether receipts have claimed a transaction. If it has several authorizations, each is a separate payment. */
export async function isClaimed(db: Db, { network, tx }: Key): Promise<boolean> {
  const row = db.selectFrom('payment_transactions').select('kind').where('network', '=', network).where('tx', '=', tx)
  return (await row.where('kind', 'in', ['single', 'batch', 'lost']).executeTakeFirst()) !== undefined
}

export async function hasUnclaimed(db: Db, { network, tx, asset }: Key): Promise<boolean> {
  const row = db.selectFrom('unclaimed_payments').select('tx').where('network', '=', network).where('tx', '=', tx)
  return (await row.where('asset', '=', asset).executeTakeFirst()) !== undefined
}

export async function countUnclaimed(db: Db, payReqId: string): Promise<number> {
  const { count } = await db
    .selectFrom('unclaimed_payments')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('pay_req_id', '=', payReqId)
    .executeTakeFirstOrThrow()
  return count
}

export type UnclaimedPosition = Pick<UnclaimedPaymentTable, 'noted_at' | 'tx' | 'asset'>

/** Newest first. */
export function pageOfUnclaimed(
  db: Db,
  after: UnclaimedPosition | null,
  limit: number,
): Promise<UnclaimedPaymentTable[]> {
  return db
    .selectFrom('unclaimed_payments')
    .selectAll()
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('noted_at', 'tx', 'asset'), '<', tuple(after!.noted_at, after!.tx, after!.asset)),
      ),
    )
    .orderBy('noted_at', 'desc')
    .orderBy('tx', 'desc')
    .orderBy('asset', 'desc')
    .limit(limit)
    .execute()
}
