import { createFreshDatabase } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/open.ts'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

const writeUntilKilled = new URL('./programs/write-until-killed.ts', import.meta.url)

it('SQLite loses no acknowledged transaction and stores no half transaction when its writer is killed', {
  tags: ['nightly'],
}, async () => {
  const { url, drop } = await createFreshDatabase('sqlite')
  onTestFinished(drop)
  let next = 0
  for (const acknowledgedBeforeKill of [1, 100, 500]) {
    const writer = startProcess(writeUntilKilled, { args: [url, `${next}`] })
    await writer.waitForLine(new RegExp(`^${next + acknowledgedBeforeKill - 1}$`))
    const { stdout } = await writer.kill()
    const lastAcknowledged = Number(stdout.trimEnd().split('\n').at(-1))

    const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
    const rows = await db.selectFrom('journal').select('entry').where('entry', 'like', '% half of %').execute()
    const entries = rows.map(({ entry }) => entry)
    // One more than acknowledged may have been committed when the process was killed.
    next = entries.length / 2
    expect(next - 1 - lastAcknowledged).toBeOneOf([0, 1])
    const expected = Array.from({ length: next }, (_, id) => [`first half of ${id}`, `second half of ${id}`])
    expect(entries).toEqual(expected.flat())
    expect((await sql`pragma integrity_check`.execute(writable(db))).rows).toEqual([{ integrity_check: 'ok' }])
    await close()
  }
})
