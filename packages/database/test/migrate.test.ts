import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

forEachDatabase('migrations', (database) => {
  it('run in the order of their names, and each once', async () => {
    const order: string[] = []
    const note = (name: string) => async () => void order.push(name)
    await database.open({ '0002-b': note('b'), '0001-a': note('a') })
    await database.open({ '0001-a': note('a'), '0002-b': note('b'), '0010-c': note('c') })
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('fail when the database has one that this version does not know', async () => {
    const olderVersion = database.open({ '0001-a': async () => {} })
    await expect(olderVersion).rejects.toThrow('does not know (0002-b, 0010-c): it belongs to a newer version')
  })
})

forEachDatabase('a failing migration', (database) => {
  it('leaves nothing behind, and the database opens once it is fixed', async () => {
    const failing = async () => {
      throw new Error('no such column')
    }
    await expect(database.open({ ...journalMigrations, '0004-broken': failing })).rejects.toThrow('no such column')
    const { db } = await database.open<JournalSchema>(journalMigrations)
    const journal = await db.selectFrom('journal').select('entry').execute()
    expect(journal.map(({ entry }) => entry)).toEqual(Object.keys(journalMigrations))
  })
})
