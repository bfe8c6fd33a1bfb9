import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Guard } from '@svc/database/commit'
import { openJournal } from '@svc/database/journal/journal'
import { createSealing } from '@svc/database/journal/sealing'
import { openDatabase } from '@svc/database/open'
import { forEachDatabase } from '@svc/devnet/databases'
import { forAllTests } from '@svc/devnet/for-tests'
import { migrateByCopy } from '@svc/devnet/migrate-by-copy'
import { createLog } from '@svc/service/program/log'
import { expect, it } from 'vitest'
import { createContinuity } from '../../src/continuity/continuity.ts'
import type { DocumentId } from '../../src/continuity/document-id.ts'
import { readTo, setRead } from '../../src/continuity/store.ts'
import { migrations } from '../../src/db/migrations.ts'
import type { Schema } from '../../src/db/schema.ts'

const sealing = createSealing(Buffer.alloc(32, 1))

forEachDatabase('comparisons with the journal', (fresh) => {
  /** A database and its continuity, wired as in a gateway. */
  const instance = forAllTests(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-comparison-'))
    await migrateByCopy(fresh.url, migrations)
    const guard: Guard<Schema, DocumentId> = {
      requireCurrent: () => continuity.guard.requireCurrent(),
      assertCurrent: () => continuity.guard.assertCurrent(),
      begin: () => continuity.guard.begin(),
    }
    const database = await openDatabase<Schema, DocumentId>({ url: fresh.url, migrations, guard })
    const continuity = createContinuity({
      journal: { folder, sealing, retentionDays: 90 },
      database,
      publications: null,
      clockToleranceSeconds: 0,
      log: createLog('silent'),
      now: Date.now,
    })
    async function close(): Promise<void> {
      await database.close()
      await rm(folder, { recursive: true })
    }
    return { folder, database, continuity, close }
  })

  /** Returns the path of an old file that is due to be removed, since the database has all its entries. */
  async function addOldFile(): Promise<string> {
    const { folder, database } = instance
    const journal = await openJournal({ folder, sealing, history: 'a server' })
    await journal.append(['an entry'])
    await journal.close()
    await database.commit((tx) => setRead(tx, journal.positions()))
    const path = join(folder, journal.positions()[0]!.file)
    await utimes(path, 0, 0)
    return path
  }

  it('T-37 ADD-29 a comparison that begins during the removal of old files completes, and so does the removal', async ({
    signal,
  }) => {
    const { database, continuity } = instance
    const path = await addOldFile()
    await continuity.start()
    await continuity.whenCurrent(signal)
    // This line runs before any disk access ends, so the removal has committed nothing yet.
    expect(existsSync(path)).toBe(true)
    continuity.compareAgain()

    await expect.poll(() => continuity.status().state).toBe('current')
    await expect.poll(() => readTo(database.db)).toEqual(new Map())
    expect(existsSync(path)).toBe(false)
    await continuity.stop()
  })
})
