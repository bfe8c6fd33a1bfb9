import { setImmediate } from 'node:timers/promises'
import { itemInteger, itemText, jsonRows, prepared } from '@svc/database/prepared'
import { storedBody } from '@svc/payments/selling/quote-template'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { type Selectable, sql } from 'kysely'
import type {
  Db,
  PaymentAuthorizationTable,
  PaymentTransactionTable,
  PayRequestTable,
  RefundTable,
  Tx,
} from '../db/schema.ts'

export interface PayRequest extends Omit<Selectable<PayRequestTable>, 'template_id'> {
  /** The whole body of the 402 response. */
  quote: string
  /** The stored row may lack its quote: the compiler rejects such a row here. */
  template_id?: never
}

function storedPayRequests(db: Db) {
  return db
    .selectFrom('pay_requests as p')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select(['p.pay_req_id', 'p.created_at', 'p.expires_at', 'p.provider', 'p.units', 'p.quote', 't.template'])
}

function payRequest({ template, ...row }: PayRequest & { template: string | null }): PayRequest {
  return template === null ? row : { ...row, quote: storedBody({ ...row, template }) }
}

const payRequestById = prepared((db: Db, payReqId: string) =>
  storedPayRequests(db).where('p.pay_req_id', '=', payReqId),
)

export async function findPayRequest(db: Db, payReqId: string): Promise<PayRequest | null> {
  const [row] = (await payRequestById(db, payReqId)).rows
  return row ? payRequest(row) : null
}

export async function insertPayRequest(tx: Tx, request: PayRequest): Promise<void> {
  await tx.insertInto('pay_requests').values(request).execute()
}

/** The columns of a quote with a template, in the order of the query. */
export type QuoteRow = readonly [
  payReqId: string,
  createdAt: number,
  expiresAt: number,
  provider: string,
  units: number,
  templateId: string,
]

/** JSON of `QuoteRow`s. Their templates must be stored. */
export const insertQuotes = prepared((tx: Tx, json: string) =>
  tx
    .insertInto('pay_requests')
    .columns(['pay_req_id', 'created_at', 'expires_at', 'provider', 'units', 'template_id', 'quote'])
    .expression(
      tx
        .selectFrom(jsonRows(tx, json).as('item'))
        .select([
          itemText(0).as('pay_req_id'),
          itemInteger(1).as('created_at'),
          itemInteger(2).as('expires_at'),
          itemText(3).as('provider'),
          itemInteger(4).as('units'),
          itemText(5).as('template_id'),
          sql.lit('').as('quote'),
        ]),
    ),
)

export async function storeTemplate(tx: Tx, { id, text }: { id: string; text: string }, now: number): Promise<void> {
  await tx
    .insertInto('quote_templates')
    .values({ template_id: id, template: text, stored_at: now })
    .onConflict((conflict) => conflict.column('template_id').doUpdateSet({ stored_at: now }))
    .execute()
}

/** Deletes unused templates that were stored before that time. */
export async function deleteUnusedTemplates(tx: Tx, storedBefore: number): Promise<void> {
  await tx
    .deleteFrom('quote_templates')
    .where('stored_at', '<', storedBefore)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('pay_requests')
            .select('pay_req_id')
            .whereRef('pay_requests.template_id', '=', 'quote_templates.template_id'),
        ),
      ),
    )
    .execute()
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

/** Deletes up to `limit` quotes without a receipt that expired before that time; returns how many. */
export async function deleteUnpaidQuotes(
  tx: Tx,
  { before, settledBefore }: { before: number; settledBefore: number },
  limit: number,
): Promise<number> {
  const rows = await tx
    .selectFrom('pay_requests as p')
    .leftJoin('receipts as r', 'r.pay_req_id', 'p.pay_req_id')
    .leftJoin('x402_settlements as s', 's.pay_req_id', 'p.pay_req_id')
    .select('p.pay_req_id')
    .where('p.expires_at', '<', before)
    .where('r.pay_req_id', 'is', null)
    // Its payment is still being searched for on chain; a payment that was made has no time limit.
    .where((eb) => eb.or([eb('s.pay_req_id', 'is', null), eb('p.expires_at', '<', settledBefore)]))
    .where('s.searched_to', 'is', null)
    .limit(limit)
    .execute()
  const ids = rows.map(({ pay_req_id }) => pay_req_id)
  if (ids.length === 0) return 0
  // An x402 payment that never landed; its signature has long expired.
  await tx.deleteFrom('x402_settlements').where('pay_req_id', 'in', ids).execute()
  await tx.deleteFrom('pay_requests').where('pay_req_id', 'in', ids).execute()
  return ids.length
}

export interface StoredKey {
  idempotency_key: string
  body_sha256: string
  pay_req_id: string
  created_at: number
}

export async function findIdempotencyKey(db: Db, key: string): Promise<StoredKey | null> {
  const row = await db.selectFrom('idempotency_keys').selectAll().where('idempotency_key', '=', key).executeTakeFirst()
  return row ?? null
}

/** Assigns the key to a quote; false when another quote has it. `replacing` is the quote that may lose the key. */
export async function assignIdempotencyKey(tx: Tx, key: StoredKey, replacing: string | null): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('idempotency_keys')
    .values(key)
    .onConflict((conflict) =>
      conflict
        .column('idempotency_key')
        .doUpdateSet(key)
        .where('idempotency_keys.pay_req_id', '=', replacing ?? ''),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** Does nothing when another quote has the key. */
export async function releaseIdempotencyKey(tx: Tx, key: string, payReqId: string): Promise<void> {
  await tx
    .deleteFrom('idempotency_keys')
    .where('idempotency_key', '=', key)
    .where('pay_req_id', '=', payReqId)
    .execute()
}

export async function deleteIdempotencyKeys(tx: Tx, before: number): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('created_at', '<', before).execute()
}

/** The JSON of the receipt, as returned to clients. */
export async function findReceiptText(db: Db, receiptId: string): Promise<string | null> {
  const row = await db.selectFrom('receipts').select('receipt').where('receipt_id', '=', receiptId).executeTakeFirst()
  return row?.receipt ?? null
}

const receiptByRequest = prepared((db: Db, payReqId: string) =>
  db.selectFrom('receipts').select('receipt').where('pay_req_id', '=', payReqId),
)

export async function findReceiptOfRequest(db: Db, payReqId: string): Promise<SignedReceipt | null> {
  const [row] = (await receiptByRequest(db, payReqId)).rows
  return row ? JSON.parse(row.receipt) : null
}

/** False when the request already has a receipt. */
export async function insertReceipt(tx: Tx, receipt: SignedReceipt): Promise<boolean> {
  const { receipt_id, pay_req_id, network, tx_hash, payer_pubkey, confirmed_at } = receipt
  const text = JSON.stringify(receipt)
  const { numAffectedRows } = await addReceipt(
    tx,
    receipt_id,
    pay_req_id,
    network,
    tx_hash,
    payer_pubkey,
    text,
    confirmed_at,
  )
  return numAffectedRows === 1n
}

const addReceipt = prepared(
  (
    tx: Tx,
    receipt_id: string,
    pay_req_id: string,
    network: string,
    paidBy: string,
    payer: string,
    receipt: string,
    confirmed_at: string,
  ) =>
    tx
      .insertInto('receipts')
      .values({ receipt_id, pay_req_id, network, tx: paidBy, payer, receipt, confirmed_at })
      .onConflict((conflict) => conflict.column('pay_req_id').doNothing()),
)

/** In no particular order. */
export async function findPayRequests(db: Db, payReqIds: readonly string[]): Promise<PayRequest[]> {
  if (payReqIds.length === 0) return []
  return (await storedPayRequests(db).where('p.pay_req_id', 'in', payReqIds).execute()).map(payRequest)
}

/** In no particular order. Unpaid requests have no receipt. */
export async function findReceiptsOfRequests(db: Db, payReqIds: readonly string[]): Promise<SignedReceipt[]> {
  const rows = await db.selectFrom('receipts').select('receipt').where('pay_req_id', 'in', payReqIds).execute()
  return rows.map(({ receipt }) => JSON.parse(receipt))
}

export async function findReceiptsOfTransaction(db: Db, tx: string): Promise<SignedReceipt[]> {
  const rows = await db.selectFrom('receipts').select('receipt').where('tx', '=', tx).orderBy('receipt_id').execute()
  return rows.map(({ receipt }) => JSON.parse(receipt))
}

/** False when the transaction is already claimed. */
export async function insertPaymentTransaction(tx: Tx, row: PaymentTransactionTable): Promise<boolean> {
  const { network, tx: paidBy, kind, payer, asset, received, bound } = row
  const { numAffectedRows } = await addPaymentTransaction(tx, network, paidBy, kind, payer, asset, received, bound)
  return numAffectedRows === 1n
}

const addPaymentTransaction = prepared(
  (
    tx: Tx,
    network: string,
    paidBy: string,
    kind: PaymentTransactionTable['kind'],
    payer: string,
    asset: string,
    received: string,
    bound: string,
  ) =>
    tx
      .insertInto('payment_transactions')
      .values({ network, tx: paidBy, kind, payer, asset, received, bound })
      .onConflict((conflict) => conflict.columns(['network', 'tx']).doNothing()),
)

type PaymentKey = Pick<PaymentTransactionTable, 'network' | 'tx'>

/** A claimed transaction, locked until the database transaction ends. */
export function lockPaymentTransaction(db: Db, { network, tx }: PaymentKey): Promise<PaymentTransactionTable> {
  return db
    .selectFrom('payment_transactions')
    .selectAll()
    .where('network', '=', network)
    .where('tx', '=', tx)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export async function updatePaymentTransaction(tx: Tx, row: PaymentTransactionTable): Promise<void> {
  const { network, tx: paidBy, kind, payer, asset, received, bound } = row
  await tx
    .updateTable('payment_transactions')
    .set({ kind, payer, asset, received, bound })
    .where('network', '=', network)
    .where('tx', '=', paidBy)
    .execute()
}

export async function deletePaymentTransaction(tx: Tx, { network, tx: paidBy }: PaymentKey): Promise<void> {
  await tx.deleteFrom('payment_transactions').where('network', '=', network).where('tx', '=', paidBy).execute()
}

/** In the order of their decisions. */
export function findRefunds(db: Db, { network, tx }: PaymentKey): Promise<RefundTable[]> {
  const refunds = db.selectFrom('refunds').selectAll().where('network', '=', network).where('tx', '=', tx)
  return refunds.orderBy('position').execute()
}

/** The amount that receipts account for, in one asset. */
export async function claimedAmount(db: Db, { network, tx, asset }: PaymentKey & { asset: string }): Promise<bigint> {
  const receipts = await findReceiptsOfTransaction(db, tx)
  return receipts
    .filter((receipt) => receipt.network === network && receipt.pay_asset === asset)
    .reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), 0n)
}

/** Assigns an authorization to a quote; false when it belongs to another quote. */
export async function assignAuthorization(tx: Tx, row: PaymentAuthorizationTable): Promise<boolean> {
  await tx
    .insertInto('payment_authorizations')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  const [owner] = await findAuthorizationOwners(tx, row.network, [row.authorization_id])
  return owner === row.pay_req_id
}

/** The quotes of authorizations, as far as they are known. */
export async function findAuthorizationOwners(db: Db, network: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const query = db.selectFrom('payment_authorizations').select('pay_req_id').where('network', '=', network)
  return (await query.where('authorization_id', 'in', ids).execute()).map(({ pay_req_id }) => pay_req_id)
}

/** The authorizations that were signed for a quote. */
export async function findAuthorizations(db: Db, payReqId: string): Promise<string[]> {
  const query = db.selectFrom('payment_authorizations').select('authorization_id').where('pay_req_id', '=', payReqId)
  return (await query.execute()).map(({ authorization_id }) => authorization_id)
}

interface ReceiptCount {
  network: string
  /** Null for receipts whose transaction is not recorded. */
  asset: string | null
  receipts: number
}

/** Receipts that one query counts: a query blocks everything else on SQLite. */
const COUNT_PAGE = 2000

/** Several rows may have the same network and asset. */
export async function* countReceipts(db: Db, page = COUNT_PAGE): AsyncIterable<ReceiptCount> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const last: string | undefined = await endOfPage(db, after, page)
    yield* await countBetween(db, after, last)
    after = last
    await setImmediate()
  }
}

async function endOfPage(db: Db, after: string, page: number): Promise<string | undefined> {
  const ids = db.selectFrom('receipts').select('receipt_id').where('receipt_id', '>', after).orderBy('receipt_id')
  const row = await ids
    .offset(page - 1)
    .limit(1)
    .executeTakeFirst()
  return row?.receipt_id
}

function countBetween(db: Db, after: string, last: string | undefined): Promise<ReceiptCount[]> {
  return db
    .selectFrom('receipts as r')
    .leftJoin('payment_transactions as p', (join) =>
      join.onRef('p.network', '=', 'r.network').onRef('p.tx', '=', 'r.tx'),
    )
    .select(({ fn }) => ['r.network', 'p.asset', fn.countAll<number>().as('receipts')])
    .where('r.receipt_id', '>', after)
    .$if(last !== undefined, (query) => query.where('r.receipt_id', '<=', last as string))
    .groupBy(['r.network', 'p.asset'])
    .execute()
}
