import type { Commit } from '@svc/database/commit'
import type { Reader } from '@svc/database/open'
import { itemInteger, itemText, jsonRows, prepared } from '@svc/database/prepared'
import { sql, type Transaction } from 'kysely'
import type { GuardTables } from './tables.ts'

export type RateTables = Pick<GuardTables, 'rate_limits'>

type Db = Reader<RateTables>
type Tx = Transaction<RateTables>

/**
 * The TATs of keys. Their rows, created where missing, stay locked until the end of the transaction. Rows are always
 * locked in the order of their keys; otherwise two transactions could deadlock.
 */
export async function lockTats(tx: Tx, keys: ReadonlySet<string>): Promise<Map<string, number>> {
  const { rows } = await lockRows(tx, JSON.stringify([...keys].sort().map((key) => [key, 0])))
  return new Map(rows.map(({ key, tat }) => [key, tat]))
}

/** The keys must be locked. */
export async function setTats(tx: Tx, tats: ReadonlyMap<string, number>): Promise<void> {
  await setRows(tx, JSON.stringify([...tats]))
}

const insertRows = (tx: Tx, json: string) =>
  tx
    .insertInto('rate_limits')
    .columns(['key', 'tat'])
    .expression(
      tx
        .selectFrom(jsonRows(tx, json).as('item'))
        .select([itemText(0).as('key'), itemInteger(1).as('tat')])
        // Otherwise SQLite would read `on conflict` as the condition of a join.
        .where(sql<boolean>`true`),
    )

const lockRows = prepared((tx: Tx, json: string) =>
  insertRows(tx, json)
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('rate_limits.tat') })))
    .returning(['key', 'tat']),
)

const setRows = prepared((tx: Tx, json: string) =>
  insertRows(tx, json).onConflict((conflict) =>
    conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('excluded.tat') })),
  ),
)

const PAGE = 1000

/** Page by page: a flood from a million addresses leaves a million rows, and no request should wait for all of them. */
export async function deletePastTats(db: Db, commit: Commit<RateTables>, now: number): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await db
      .selectFrom('rate_limits')
      .selectAll()
      .where('key', '>', after)
      .orderBy('key')
      .limit(PAGE)
      .execute()
    const past = page.filter(({ tat }) => tat <= now).map(({ key }) => key)
    if (past.length > 0) await commit((tx) => deleteStillPast(tx, past, now))
    after = page[PAGE - 1]?.key
  }
}

async function deleteStillPast(tx: Tx, keys: readonly string[], now: number): Promise<void> {
  const locked = await tx
    .selectFrom('rate_limits')
    .select('key')
    .where('key', 'in', keys)
    .where('tat', '<=', now)
    .orderBy('key')
    .forUpdate()
    .execute()
  if (locked.length === 0) return
  const past = locked.map(({ key }) => key)
  await tx.deleteFrom('rate_limits').where('key', 'in', past).execute()
}
