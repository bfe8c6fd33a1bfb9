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

/** The payment was made. Where it was not found so far, the search goes on from here. */
export async function noteSearch(tx: Tx, { pay_req_id, tx: sent }: Settlement, searched_to: number): Promise<void> {
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

/** A quote among those with open settlements. */
export interface SettlementPlace {
  expires_at: number
  pay_req_id: string
}

/**
 * Quotes that have a settlement without a receipt, and expired in the given period; or before it, where the payment was
 * made and is being searched for. A settlement has none either where another transaction has paid its quote: until it is
 * noted for refund, or is known to move nothing. The newest first, from a place on; the requests of a page in no order.
 */
export async function findOpenSettlements(
  db: Db,
  expired: { after: number; before: number },
  limit: number,
  from: SettlementPlace | null,
): Promise<{ requests: PayRequest[]; last: SettlementPlace | null }> {
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
