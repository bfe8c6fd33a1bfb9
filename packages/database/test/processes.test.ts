import { createFreshDatabase } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/open.ts'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

const countOnRequest = new URL('./programs/count-on-request.ts', import.meta.url)

describe.each([
  ['sqlite', 3],
  ['postgres', 2],
] as const)('five processes that open a fresh database at once (%s)', (dialect, rounds) => {
  it(`apply each migration once and lose none of their transactions, ${rounds} times over`, {
    tags: ['nightly'],
  }, async () => {
    const counters = Array.from({ length: 5 }, () => startProcess(countOnRequest))
    for (let round = 0; round < rounds; round++) {
      const { url, drop } = await createFreshDatabase(dialect)
      onTestFinished(drop)
      for (const { stdin } of counters) stdin.write(`${url}\n`)
      await Promise.all(counters.map(({ waitForLine }) => waitForLine(/counted/)))

      const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
      onTestFinished(close)
      const journal = await db.selectFrom('journal').select('entry').orderBy('entry').execute()
      expect(journal.map(({ entry }) => entry)).toEqual(Object.keys(journalMigrations))
      expect(await db.selectFrom('counter').selectAll().execute()).toEqual([{ value: 15 }])
    }
  })
})
