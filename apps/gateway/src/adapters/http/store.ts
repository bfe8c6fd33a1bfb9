import type { Tx } from '../../db/schema.ts'

/** SQL statements have a limit on parameters. */
const ROWS_AT_ONCE = 1000

/** Adds bytes to what was sent of each locker. */
export async function addEgress(tx: Tx, counted: ReadonlyMap<string, number>): Promise<void> {
  const all = [...counted].map(([locker_id, bytes]) => ({ locker_id, bytes }))
  // Always in the same order: two processes would deadlock otherwise.
  all.sort((a, b) => (a.locker_id < b.locker_id ? -1 : 1))
  for (let first = 0; first < all.length; first += ROWS_AT_ONCE) {
    await tx
      .insertInto('locker_egress')
      .values(all.slice(first, first + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict
          .column('locker_id')
          .doUpdateSet((eb) => ({ bytes: eb('locker_egress.bytes', '+', eb.ref('excluded.bytes')) })),
      )
      .execute()
  }
}
