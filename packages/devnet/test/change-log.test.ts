import { expect, it } from 'vitest'
import { watchChanges } from '../src/change-log.ts'
import { forEachDatabaseInGate } from '../src/databases.ts'
import { writable } from '../src/writable.ts'

interface Tables {
  people: { name: string; age: number }
  places: { name: string }
}

forEachDatabaseInGate('a log of changes', (database) => {
  it('T-125 names the tables that changed, but none where rows came and went or a transaction was rolled back', async () => {
    const opened = await database.open<Tables>({
      first: async (db) => {
        await db.schema.createTable('people').addColumn('name', 'text').addColumn('age', 'integer').execute()
        await db.schema.createTable('places').addColumn('name', 'text').execute()
      },
    })
    const { db } = opened
    const { changedTables } = await watchChanges(opened)
    expect(await changedTables()).toEqual([])
    await writable(db).insertInto('places').values({ name: 'here' }).execute()
    await writable(db).insertInto('people').values({ name: 'Anna', age: 1 }).execute()
    expect(await changedTables()).toEqual(['people', 'places'])
    expect(await changedTables()).toEqual([])
    await writable(db).updateTable('people').set({ age: 2 }).execute()
    await writable(db).updateTable('people').set({ age: 3 }).where('name', '=', 'nobody').execute()
    expect(await changedTables()).toEqual(['people'])
    await writable(db).insertInto('places').values({ name: 'there' }).execute()
    await writable(db).deleteFrom('places').where('name', '=', 'there').execute()
    const undone = writable(db)
      .transaction()
      .execute(async (tx) => {
        await tx.deleteFrom('people').execute()
        throw new Error('no')
      })
    await expect(undone).rejects.toThrow('no')
    expect(await changedTables()).toEqual([])
    await writable(db).deleteFrom('people').execute()
    expect(await changedTables()).toEqual(['people'])
  })
})
