import type { Journal } from '@svc/sdk'
import type { Db } from '../db/schema.ts'

/** Stores what the SDK must remember, above all the keys that the gateway showed first. */
export function dbJournal(db: Db): Journal {
  async function get(key: string): Promise<string | null> {
    const row = await db.selectFrom('journal').select('value').where('key', '=', key).executeTakeFirst()
    return row?.value ?? null
  }

  async function insert(key: string, value: string): Promise<boolean> {
    const { numInsertedOrUpdatedRows } = await db
      .insertInto('journal')
      .values({ key, value })
      .onConflict((conflict) => conflict.column('key').doNothing())
      .executeTakeFirst()
    return numInsertedOrUpdatedRows === 1n
  }

  return {
    get,
    async put(key, value, expected) {
      if (expected === null) return value === null ? (await get(key)) === null : insert(key, value)
      if (value === null) {
        const removal = db.deleteFrom('journal').where('key', '=', key).where('value', '=', expected)
        return (await removal.executeTakeFirst()).numDeletedRows === 1n
      }
      const update = db.updateTable('journal').set({ value }).where('key', '=', key).where('value', '=', expected)
      return (await update.executeTakeFirst()).numUpdatedRows === 1n
    },
  }
}
