import type { Kysely } from 'kysely'
import type { GuardTables } from './tables.ts'

export type RateTables = Pick<GuardTables, 'rate_limits'>

type Db = Kysely<RateTables>

/**
 * The TATs of keys. Their rows, created where missing, stay locked until the end of the transaction. Rows are always
 * locked in the order of their keys; otherwise two transactions could deadlock.
 */
export async function lockTats(db: Db, keys: ReadonlySet<string>): Promise<Map<string, number>> {
  const rows = await db
    .insertInto('rate_limits')
    .values([...keys].sort().map((key) => ({ key, tat: 0 })))
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('rate_limits.tat') })))
    .returning(['key', 'tat'])
    .execute()
  return new Map(rows.map(({ key, tat }) => [key, tat]))
}

/** The keys must be locked. */
export async function setTats(db: Db, tats: ReadonlyMap<string, number>): Promise<void> {
  await db
    .insertInto('rate_limits')
    .values(Array.from(tats, ([key, tat]) => ({ key, tat })))
    .onConflict((conflict) => conflict.column('key').doUpdateSet((eb) => ({ tat: eb.ref('excluded.tat') })))
    .execute()
}

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
