import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

forEachDatabase('migrations', (database) => {
  it('are applied in the order of their names and never again', async () => {
    const order: string[] = []
    const note = (name: string) => async () => void order.push(name)
    await database.open({ '0002-b': note('b'), '0001-a': note('a') })
    await database.open({ '0001-a': note('a'), '0002-b': note('b'), '0010-c': note('c') })
    expect(order).toEqual(['a', 'b', 'c'])
  })

  it('are refused when the database has one that this version does not know', async () => {
    const olderVersion = database.open({ '0001-a': async () => {} })
    await expect(olderVersion).rejects.toThrow('does not know (0002-b, 0010-c): it belongs to a newer version')
  })
})

forEachDatabase('a failing migration', (database) => {
  it('leaves nothing behind, and the database can be opened once it is mended', async () => {
    const outOfLuck = async () => {
      throw new Error('out of luck')
    }
    await expect(database.open({ ...journalMigrations, '0004-broken': outOfLuck })).rejects.toThrow('out of luck')
    const { db } = await database.open<JournalSchema>(journalMigrations)
    const journal = await db.selectFrom('journal').select('entry').execute()
    expect(journal.map(({ entry }) => entry)).toEqual(Object.keys(journalMigrations))
  })
})
