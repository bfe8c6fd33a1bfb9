import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createFreshDatabase } from '@svc/devnet/databases'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../src/open.ts'
import { type JournalSchema, journalMigrations } from './programs/journal.ts'

const writeUntilKilled = fileURLToPath(new URL('./programs/write-until-killed.ts', import.meta.url))

it('SQLite loses no acknowledged transaction and keeps no half of one when its writer is killed', {
  tags: ['nightly'],
}, async () => {
  const { url, drop } = await createFreshDatabase('sqlite')
  onTestFinished(drop)
  let next = 0
  for (const acknowledgedBeforeKill of [1, 100, 500]) {
    const writer = spawn(process.execPath, [writeUntilKilled, url, `${next}`], { stdio: ['ignore', 'pipe', 'inherit'] })
    const ended = once(writer, 'exit')
    const acknowledged: number[] = []
    for await (const line of createInterface(writer.stdout)) {
      acknowledged.push(Number(line))
      if (acknowledged.length === acknowledgedBeforeKill) writer.kill('SIGKILL')
    }
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(acknowledged.length).toBeGreaterThanOrEqual(acknowledgedBeforeKill)

    const { db, close } = await openDatabase<JournalSchema>({ url, migrations: journalMigrations })
    const rows = await db.selectFrom('journal').select('entry').where('entry', 'like', '% half of %').execute()
    const entries = rows.map(({ entry }) => entry)
    // One more than acknowledged may have been committed when the kill came.
    next = entries.length / 2
    expect(next - 1 - acknowledged.at(-1)!).toBeOneOf([0, 1])
    const expected = Array.from({ length: next }, (_, id) => [`first half of ${id}`, `second half of ${id}`])
    expect(entries).toEqual(expected.flat())
    expect((await sql`pragma integrity_check`.execute(db)).rows).toEqual([{ integrity_check: 'ok' }])
    await close()
  }
})
