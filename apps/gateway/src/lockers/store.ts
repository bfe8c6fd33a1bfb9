import { prepared } from '@svc/database/prepared'
import { storedBody } from '@svc/payments/selling/quote-template'
import type { SignedReceipt } from '@svc/protocol/receipt'
import type { Db, Locker, RenewalTable, Tx } from '../db/schema.ts'

export interface Purchase {
  receipt: SignedReceipt
  provider: string
  /** The JSON of the quote. */
  quote: string
}

export async function findLockerOfReceipt(db: Db, receiptId: string): Promise<Locker | null> {
  return (await db.selectFrom('lockers').selectAll().where('receipt_id', '=', receiptId).executeTakeFirst()) ?? null
}

/** False when the receipt already has a locker, or another receipt's locker has the id. */
export async function insertLocker(tx: Tx, locker: Locker): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('lockers')
    .values(locker)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

/** Increments the owner's count; false at the limit. Locks the owner's row until the transaction ends. */
export async function countLocker(tx: Tx, owner: string, maxPerOwner: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
    .insertInto('owners')
    .values({ owner, locker_count: 1 })
    .onConflict((conflict) =>
      conflict
        .column('owner')
        .doUpdateSet((eb) => ({ locker_count: eb('owners.locker_count', '+', 1) }))
        .where('owners.locker_count', '<', maxPerOwner),
    )
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows > 0n
}

export async function uncountLocker(tx: Tx, owner: string): Promise<void> {
  await tx
    .updateTable('owners')
    .set((eb) => ({ locker_count: eb('locker_count', '-', 1) }))
    .where('owner', '=', owner)
    .execute()
}

export async function findLocker(db: Db, lockerId: string): Promise<Locker | null> {
  return (await db.selectFrom('lockers').selectAll().where('locker_id', '=', lockerId).executeTakeFirst()) ?? null
}

/** A receipt with the quote that it paid. */
export async function findPurchase(db: Db, receiptId: string): Promise<Purchase | null> {
  const row = await db
    .selectFrom('receipts as r')
    .innerJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select(['r.receipt', 'p.pay_req_id', 'p.expires_at', 'p.provider', 'p.quote', 't.template'])
    .where('r.receipt_id', '=', receiptId)
    .executeTakeFirst()
  return row ? { provider: row.provider, quote: storedBody(row), receipt: JSON.parse(row.receipt) } : null
}

/** The start of a page: after the receipt that was confirmed at this time and whose id has this beginning. */
export interface ListPosition {
  confirmedAt: string
  receiptId: string
}

/** One receipt, with its locker if that is open. */
export interface ListedPurchase {
  /** The sort key of the list. */
  confirmed_at: string
  receipt_id: string
  /** The JSON of the signed receipt. */
  receipt: string
  provider: string
  tags: string | null
  operators: string | null
  created_at: string | null
  expires_at: string | null
  file_count: number | null
  total_bytes: number | null
  terms: string | null
}

/** The lockers that a wallet paid for, newest first. A renewal has no locker of its own. */
export function purchasesOf(db: Db, payer: string, after: ListPosition, limit: number): Promise<ListedPurchase[]> {
  return db
    .selectFrom('receipts as r')
    .innerJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('lockers as l', 'l.receipt_id', 'r.receipt_id')
    .select(['r.confirmed_at', ...LISTED])
    .where('r.payer', '=', payer)
    .where(({ exists, not, selectFrom }) =>
      not(exists(selectFrom('renewals as n').select('n.receipt_id').whereRef('n.receipt_id', '=', 'r.receipt_id'))),
    )
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('r.confirmed_at', 'r.receipt_id'), '<', tuple(after.confirmedAt, after.receiptId)),
    )
    .orderBy('r.confirmed_at', 'desc')
    .orderBy('r.receipt_id', 'desc')
    .limit(limit)
    .execute()
}

/** The lockers of others that a key operates, newest first. */
export function operatedBy(db: Db, operator: string, after: ListPosition, limit: number): Promise<ListedPurchase[]> {
  return db
    .selectFrom('locker_operators as o')
    .innerJoin('receipts as r', 'r.receipt_id', 'o.receipt_id')
    .innerJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .innerJoin('lockers as l', 'l.receipt_id', 'o.receipt_id')
    .select(['o.confirmed_at', ...LISTED])
    .where('o.operator', '=', operator)
    .where('l.owner', '!=', operator)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('o.confirmed_at', 'o.receipt_id'), '<', tuple(after.confirmedAt, after.receiptId)),
    )
    .orderBy('o.confirmed_at', 'desc')
    .orderBy('o.receipt_id', 'desc')
    .limit(limit)
    .execute()
}

const LISTED = [
  'r.receipt_id',
  'r.receipt',
  'p.provider',
  'l.tags',
  'l.operators',
  'l.created_at',
  'l.expires_at',
  'l.file_count',
  'l.total_bytes',
  'l.terms',
] as const

/** Call in the transaction that changes `operators` of the locker. */
export async function indexOperator(tx: Tx, operator: string, receiptId: string): Promise<void> {
  await tx
    .insertInto('locker_operators')
    .columns(['operator', 'receipt_id', 'confirmed_at'])
    .expression((eb) =>
      eb
        .selectFrom('receipts')
        .select([eb.val(operator).as('operator'), 'receipt_id', 'confirmed_at'])
        .where('receipt_id', '=', receiptId),
    )
    .onConflict((conflict) => conflict.columns(['operator', 'receipt_id']).doNothing())
    .execute()
}

export async function unindexOperator(tx: Tx, operator: string, receiptId: string): Promise<void> {
  await tx.deleteFrom('locker_operators').where('operator', '=', operator).where('receipt_id', '=', receiptId).execute()
}

/** Locks the locker's row until the transaction ends. Lockers are never deleted. */
export function lockLocker(tx: Tx, lockerId: string): Promise<Locker> {
  return tx.selectFrom('lockers').selectAll().where('locker_id', '=', lockerId).forUpdate().executeTakeFirstOrThrow()
}

/** The open lockers of a wallet, oldest first. */
export function lockersOwnedBy(db: Db, owner: string): Promise<Locker[]> {
  return db
    .selectFrom('lockers')
    .selectAll()
    .where('owner', '=', owner)
    .orderBy('created_at')
    .orderBy('locker_id')
    .execute()
}

/** Lockers of a wallet with this tag. May include others: `like` ignores case on SQLite. */
export async function lockersTagged(db: Db, owner: string, tag: string): Promise<Locker[]> {
  return (await selectTagged(db, owner, `%${JSON.stringify(tag)}%`)).rows
}

const selectTagged = prepared((db: Db, owner: string, pattern: string) =>
  db.selectFrom('lockers').selectAll().where('owner', '=', owner).where('tags', 'like', pattern),
)

/** Locks the rows of all lockers of a wallet in a fixed order, and returns their ids. */
export async function lockLockersOf(tx: Tx, owner: string): Promise<string[]> {
  const query = tx.selectFrom('lockers').select('locker_id').where('owner', '=', owner).orderBy('locker_id')
  return (await query.forUpdate().execute()).map(({ locker_id }) => locker_id)
}

/** Locks the row that counts the lockers of a wallet until the transaction ends. */
export async function lockOwner(tx: Tx, owner: string): Promise<void> {
  await tx.selectFrom('owners').select('owner').where('owner', '=', owner).forUpdate().execute()
}

export async function hasS3Key(tx: Tx, accessKeyId: string): Promise<boolean> {
  return (await selectS3Key(tx, accessKeyId)).rows.length > 0
}

const selectS3Key = prepared((db: Db, accessKeyId: string) =>
  db.selectFrom('s3_keys').select('locker_id').where('access_key_id', '=', accessKeyId),
)

/** False when the locker has no such key. */
export async function deleteS3Key(tx: Tx, lockerId: string, accessKeyId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('s3_keys')
    .where('access_key_id', '=', accessKeyId)
    .where('locker_id', '=', lockerId)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function deleteWalletS3Key(tx: Tx, wallet: string, accessKeyId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('s3_keys')
    .where('access_key_id', '=', accessKeyId)
    .where('locker_id', '=', '')
    .where('minted_by', '=', wallet)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

type Changeable =
  | 'tags'
  | 'operators'
  | 'operator_epochs'
  | 'access_epoch'
  | 'revoked_before'
  | 'link_handle'
  | 'link_closed'
  | 'anchoring'
  | 'terms'
  | 'expires_at'
  | 'restriction'
  | 'restricted_at'
  | 'restriction_notice'

/** The caller holds the lock of the row. */
export async function updateLocker(
  tx: Tx,
  lockerId: string,
  changes: Partial<Pick<Locker, Changeable>>,
): Promise<void> {
  await tx.updateTable('lockers').set(changes).where('locker_id', '=', lockerId).execute()
}

/** Throws for a receipt that has already renewed a locker. */
export async function insertRenewal(tx: Tx, renewal: RenewalTable): Promise<void> {
  await tx.insertInto('renewals').values(renewal).execute()
}

export interface PaidQuote {
  receipt: SignedReceipt
  /** The JSON of the quote; null when unknown. */
  quote: string | null
}

/** The quotes paid for a locker: the one that opened it, then the most recent renewals. */
export async function findPaidQuotes(db: Db, locker: Locker, maxRenewals: number): Promise<PaidQuote[]> {
  const newest = await db
    .selectFrom('renewals')
    .select('receipt_id')
    .where('locker_id', '=', locker.locker_id)
    .orderBy('renewed_at', 'desc')
    .orderBy('receipt_id')
    .limit(maxRenewals)
    .execute()
  const ids = [locker.receipt_id, ...newest.map(({ receipt_id }) => receipt_id).reverse()]
  const rows = await db
    .selectFrom('receipts as r')
    .leftJoin('pay_requests as p', 'p.pay_req_id', 'r.pay_req_id')
    .leftJoin('quote_templates as t', 't.template_id', 'p.template_id')
    .select(['r.receipt_id', 'r.receipt', 'r.pay_req_id', 'p.expires_at', 'p.quote', 't.template'])
    .where('r.receipt_id', 'in', ids)
    .execute()
  const found = new Map(rows.map((row) => [row.receipt_id, row]))
  return ids.flatMap((id) => {
    const row = found.get(id)
    if (!row) return []
    const { quote, expires_at, pay_req_id, template } = row
    const isKnown = quote !== null && expires_at !== null
    return [
      {
        receipt: JSON.parse(row.receipt),
        quote: isKnown ? storedBody({ quote, expires_at, pay_req_id, template }) : null,
      },
    ]
  })
}

export async function findEgressBytes(db: Db, lockerId: string): Promise<number> {
  const row = await db.selectFrom('locker_egress').select('bytes').where('locker_id', '=', lockerId).executeTakeFirst()
  return row?.bytes ?? 0
}
