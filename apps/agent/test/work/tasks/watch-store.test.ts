import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { migrations } from '../../../src/db/migrations.ts'
import type { Db, Schema } from '../../../src/db/schema.ts'
import {
  deleteWatched,
  findSeenFiles,
  findUnreadFiles,
  putSeenFiles,
  unreadFiles,
} from '../../../src/work/tasks/watch-store.ts'

const NOW = 1_800_000_000
const SPAN = { since: NOW - 100, now: NOW }

forEachDatabase('the files that the watch has recorded', (database) => {
  let db: Db
  beforeAll(async () => {
    db = (await database.open<Schema>(migrations)).db
  })

  async function see(delegation_id: string, read: Record<string, number | null>): Promise<void> {
    const file = { delegation_id, sha256: '', size_bytes: 10, run_id: 'run', trouble: null }
    await putSeenFiles(
      writable(db),
      Object.entries(read).map(([filename, read_at]) => ({ ...file, filename, read_at })),
    )
  }

  const unread = async (id: string, limit = 10) =>
    (await findUnreadFiles(db, id, { ...SPAN, maxBytes: 10, limit })).map(({ filename }) => filename)

  it('AGENT-04 are read in order: never read first, then least recently read', async () => {
    await see('dlg_1', { c: null, b: 5, d: 7, a: null, during: NOW - 50, now: NOW, begun: NOW - 100 })
    await see('dlg_2', { other: null })
    expect(await unread('dlg_1')).toEqual(['a', 'c', 'b', 'd'])
    expect(await unread('dlg_1', 3)).toEqual(['a', 'c', 'b'])
  })

  it('AGENT-04 are read again when a wrong clock dated their last reading in the future', async () => {
    await see('dlg_3', { ahead: NOW + 365 * 86_400, during: NOW - 50 })
    expect(await unread('dlg_3')).toEqual(['ahead'])
  })

  it('T-11 are found through the index, without sorting all of them', async () => {
    const names = Array.from({ length: 20_000 }, (_, i) => [`${i}`, null])
    for (let first = 0; first < names.length; first += 1000)
      await see('dlg_many', Object.fromEntries(names.slice(first, first + 1000)))
    if (database.dialect === 'postgres') await sql`analyze seen_files`.execute(writable(db))
    const plan = JSON.stringify(await unreadFiles(db, 'dlg_many', SPAN).limit(100).explain())
    expect(plan).not.toMatch(/Sort/)
  })

  it('AGENT-04 are deleted in batches', async () => {
    await see('dlg_4', { a: 1, b: 2, c: 3 })
    await see('dlg_5', { a: 1 })
    expect([await deleteWatched(writable(db), 'dlg_4', 2), await deleteWatched(writable(db), 'dlg_4', 2)]).toEqual([
      2, 1,
    ])
    expect((await findSeenFiles(db, 'dlg_5', ['a'])).size).toBe(1)
  })
})
