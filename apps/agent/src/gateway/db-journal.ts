import type { Database } from '@svc/database/open'
import type { Journal } from '@svc/sdk'
import type { Schema } from '../db/schema.ts'

/** Stores what the SDK must remember, in particular the first keys of the gateway. */
export function dbJournal({ db, commit }: Pick<Database<Schema>, 'db' | 'commit'>): Journal {
  async function get(key: string): Promise<string | null> {
    const row = await db.selectFrom('journal').select('value').where('key', '=', key).executeTakeFirst()
    return row?.value ?? null
  }

  async function insert(key: string, value: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await commit((tx) =>
      tx
        .insertInto('journal')
        .values({ key, value })
        .onConflict((conflict) => conflict.column('key').doNothing())
        .executeTakeFirst(),
    )
    return numInsertedOrUpdatedRows === 1n
  }

  return {
    get,
    async put(key, value, expected) {
      if (expected === null) return value === null ? (await get(key)) === null : insert(key, value)
      if (value === null) {
        const { numDeletedRows } = await commit((tx) =>
          tx.deleteFrom('journal').where('key', '=', key).where('value', '=', expected).executeTakeFirst(),
        )
        return numDeletedRows === 1n
      }
      const { numUpdatedRows } = await commit((tx) =>
        tx
          .updateTable('journal')
          .set({ value })
          .where('key', '=', key)
          .where('value', '=', expected)
          .executeTakeFirst(),
      )
      return numUpdatedRows === 1n
    },
  }
}
