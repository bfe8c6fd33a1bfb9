import type { Selectable } from 'kysely'
import type { Db, Tx, X402SettlementTable } from '../../../db/schema.ts'
import { findPayRequests, type PayRequest } from '../../store.ts'

export type Settlement = Selectable<X402SettlementTable>

export async function findSettlement(db: Db, payReqId: string): Promise<Settlement | null> {
  const query = db.selectFrom('x402_settlements').selectAll().where('pay_req_id', '=', payReqId)
  return (await query.executeTakeFirst()) ?? null
}

/** The quote that a signed payment settles. */
export async function findQuoteOfPayment(db: Db, network: string, paymentId: string): Promise<string | null> {
  const query = db
    .selectFrom('x402_settlements')
    .select('pay_req_id')
    .where('network', '=', network)
    .where('payment_id', '=', paymentId)
  return (await query.executeTakeFirst())?.pay_req_id ?? null
}

/** False when the quote has a settlement, or the payment settles another quote. */
export async function insertSettlement(tx: Tx, settlement: Settlement): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('x402_settlements')
    .values(settlement)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** False when the settlement no longer names `replacing`. */
export async function replaceTransaction(
  tx: Tx,
  { pay_req_id, tx: sent, raw }: Pick<Settlement, 'pay_req_id' | 'tx' | 'raw'>,
  replacing: string,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('x402_settlements')
    .set({ tx: sent, raw })
    .where('pay_req_id', '=', pay_req_id)
    .where('tx', '=', replacing)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The payment was made. If its transaction is not found yet, the search resumes here. */
export async function recordSearch(tx: Tx, { pay_req_id, tx: sent }: Settlement, searched_to: number): Promise<void> {
  await tx
    .updateTable('x402_settlements')
    .set({ searched_to })
    .where('pay_req_id', '=', pay_req_id)
    .where('tx', '=', sent)
    .execute()
}

export async function deleteSettlement(tx: Tx, { pay_req_id, tx: sent }: Settlement): Promise<void> {
  await tx.deleteFrom('x402_settlements').where('pay_req_id', '=', pay_req_id).where('tx', '=', sent).execute()
}

/** A position in the list of quotes with open settlements. */
export interface SettlementPosition {
  expires_at: number
  pay_req_id: string
}

/**
 * Quotes with a settlement but no receipt that expired in the given period; or earlier, if the payment was made and is
 * being searched for. A settlement also has no receipt if another transaction paid its quote, until it is recorded for
 * refund or proven to move nothing. Pages run from newest to oldest; a page itself is in no particular order.
 */
export async function findOpenSettlements(
  db: Db,
  expired: { after: number; before: number },
  limit: number,
  from: SettlementPosition | null,
): Promise<{ requests: PayRequest[]; last: SettlementPosition | null }> {
  const rows = await db
    .selectFrom('x402_settlements as s')
    .innerJoin('pay_requests as p', 'p.pay_req_id', 's.pay_req_id')
    .leftJoin('receipts as r', 'r.pay_req_id', 's.pay_req_id')
    .leftJoin('unclaimed_payments as u', (join) =>
      join.onRef('u.network', '=', 's.network').onRef('u.tx', '=', 's.tx').onRef('u.pay_req_id', '=', 's.pay_req_id'),
    )
    .select(['p.pay_req_id', 'p.expires_at'])
    .where((eb) => eb.or([eb('r.receipt_id', 'is', null), eb('r.tx', '!=', eb.ref('s.tx'))]))
    .where('u.tx', 'is', null)
    .where((eb) => eb.or([eb('p.expires_at', '>', expired.after), eb('s.searched_to', 'is not', null)]))
    .where('p.expires_at', '<', expired.before)
    .$if(from !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple('p.expires_at', 'p.pay_req_id'), '<', tuple(from!.expires_at, from!.pay_req_id)),
      ),
    )
    .orderBy('p.expires_at', 'desc')
    .orderBy('p.pay_req_id', 'desc')
    .limit(limit)
    .execute()
  const ids = rows.map(({ pay_req_id }) => pay_req_id)
  return { requests: await findPayRequests(db, ids), last: rows.length < limit ? null : (rows.at(-1) ?? null) }
}
