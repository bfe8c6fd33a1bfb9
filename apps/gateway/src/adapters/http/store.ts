import type { Tx } from '../../db/schema.ts'

/** SQL statements limit the number of parameters. */
const ROWS_AT_ONCE = 1000

/** Adds to the recorded egress of each locker. */
export async function addEgress(tx: Tx, counted: ReadonlyMap<string, number>): Promise<void> {
  const all = [...counted].map(([locker_id, bytes]) => ({ locker_id, bytes }))
  // A fixed order prevents deadlocks between processes.
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
