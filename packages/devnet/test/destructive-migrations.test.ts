import { expect, it } from 'vitest'
import { destructiveMigrations } from '../src/destructive-migrations.ts'

it('ADD-31 finds the migrations that drop or rename something without declaring it', async () => {
  const taking = await destructiveMigrations({
    '0001-made': async (db, column) => void (await db.schema.createTable('a').addColumn('b', column.text).execute()),
    '0002-renamed': async (db) => void (await db.schema.alterTable('a').renameColumn('b', 'c').execute()),
    '0003-declared': {
      needs: '0002-renamed',
      contract: async (db) => void (await db.schema.alterTable('a').renameColumn('c', 'd').execute()),
    },
    '0004-dropped': async (db) => void (await db.schema.dropTable('a').execute()),
  })
  expect(taking).toEqual(['0002-renamed', '0004-dropped'])
})
