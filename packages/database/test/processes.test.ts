import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createFreshDatabase } from '@svc/devnet/databases'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/open.ts'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

const countOnRequest = fileURLToPath(new URL('./programs/count-on-request.ts', import.meta.url))

describe.each([
  ['sqlite', 3],
  ['postgres', 2],
] as const)('five processes that open a fresh database at once (%s)', (dialect, rounds) => {
  it(`apply each migration once and lose none of their transactions, ${rounds} times over`, {
    tags: ['nightly'],
  }, async () => {
    const counters = Array.from({ length: 5 }, startCounter)
    for (let round = 0; round < rounds; round++) {
      const { url, drop } = await createFreshDatabase(dialect)
      onTestFinished(drop)
      expect(await Promise.all(counters.map((count) => count(url)))).toEqual(Array(5).fill('counted'))

      const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
      onTestFinished(close)
      const journal = await db.selectFrom('journal').select('entry').orderBy('entry').execute()
      expect(journal.map(({ entry }) => entry)).toEqual(Object.keys(journalMigrations))
      expect(await db.selectFrom('counter').selectAll().execute()).toEqual([{ value: 15 }])
    }
  })
})

function startCounter(): (url: string) => Promise<string | undefined> {
  const counter = spawn(process.execPath, [countOnRequest], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void counter.kill())
  const answers = createInterface(counter.stdout)[Symbol.asyncIterator]()
  return async (url) => {
    counter.stdin.write(`${url}\n`)
    return (await answers.next()).value
  }
}
