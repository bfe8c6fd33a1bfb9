import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import type { Journal } from '@svc/sdk'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'
import { dbJournal } from '../../src/gateway/db-journal.ts'

forEachDatabase('a journal in the database', (database) => {
  const opened = forAllTests(() => database.open<Schema>(migrations))
  let journal: Journal
  beforeAll(() => {
    journal = dbJournal(opened)
  })
  beforeEach(async () => {
    await writable(opened.db).deleteFrom('journal').execute()
  })

  it('returns the last value, including to the next process', async () => {
    expect(await journal.get('a')).toBeNull()
    expect(await journal.put('a', 'one', null)).toBe(true)
    expect(await journal.put('a', 'two', 'one')).toBe(true)
    const next = dbJournal(await database.open<Schema>(migrations))
    expect(await next.get('a')).toBe('two')
    expect(await next.put('a', null, 'two')).toBe(true)
    expect(await journal.get('a')).toBeNull()
    expect(await journal.put('a', 'again', null)).toBe(true)
  })

  it('accepts only one of many concurrent writes over two connections', async () => {
    const other = dbJournal(await database.open<Schema>(migrations))
    const race = (value: (i: number) => string, expected: string | null) =>
      Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 ? journal : other).put('a', value(i), expected)))
    expect((await race((i) => `first ${i}`, null)).filter(Boolean)).toHaveLength(1)
    const first = await journal.get('a')
    expect((await race((i) => `second ${i}`, first)).filter(Boolean)).toHaveLength(1)
    expect(await journal.get('a')).toMatch(/^second/)
  })
})
