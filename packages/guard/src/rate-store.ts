import { itemInteger, itemText, jsonRows, prepared } from '@svc/database/prepared'
import { type Kysely, sql } from 'kysely'
import type { GuardTables } from './tables.ts'

export type RateTables = Pick<GuardTables, 'rate_limits'>

type Db = Kysely<RateTables>

/**
 * The TATs of keys. Their rows, created where missing, stay locked until the end of the transaction. Rows are always
 * locked in the order of their keys; otherwise two transactions could deadlock.
 */
export async function lockTats(db: Db, keys: ReadonlySet<string>): Promise<Map<string, number>> {
  const { rows } = await lockRows(db, JSON.stringify([...keys].sort().map((key) => [key, 0])))
  return new Map(rows.map(({ key, tat }) => [key, tat]))
}

/** The keys must be locked. */
export async function setTats(db: Db, tats: ReadonlyMap<string, number>): Promise<void> {
  await setRows(db, JSON.stringify([...tats]))
}

const insertRows = (db: Db, json: string) =>
  db
    .insertInto('rate_limits')
    .columns(['key', 'tat'])
    .expression(
      db
        .selectFrom(jsonRows(db, json).as('item'))
        .select([itemText(0).as('key'), itemInteger(1).as('tat')])
        // SQLite would otherwise take `on conflict` for the condition of a join.
        .where(sql<boolean>`true`),
    )

const lockRows = prepared((db: Db, json: string) =>
  insertRows(db, json)
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('rate_limits.tat') })))
    .returning(['key', 'tat']),
)

const setRows = prepared((db: Db, json: string) =>
  insertRows(db, json).onConflict((conflict) =>
    conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('excluded.tat') })),
  ),
)

const PAGE = 1000

/** Page by page: a flood from a million addresses leaves a million rows, and no request should wait for all of them. */
export async function deletePastTats(db: Db, now: number): Promise<void> {
  for (let after: string | undefined = ''; after !== undefined; ) {
    const page = await db
      .selectFrom('rate_limits')
      .selectAll()
      .where('key', '>', after)
      .orderBy('key')
      .limit(PAGE)
      .execute()
    const past = page.filter(({ tat }) => tat <= now).map(({ key }) => key)
    if (past.length > 0) await deleteStillPast(db, past, now)
    after = page[PAGE - 1]?.key
  }
}

async function deleteStillPast(db: Db, keys: readonly string[], now: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const locked = await tx
      .selectFrom('rate_limits')
      .select('key')
      .where('key', 'in', keys)
      .where('tat', '<=', now)
      .orderBy('key')
      .forUpdate()
      .execute()
    if (locked.length === 0) return
    const stillPast = locked.map(({ key }) => key)
    await tx.deleteFrom('rate_limits').where('key', 'in', stillPast).execute()
  })
}
