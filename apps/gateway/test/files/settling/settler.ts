// For tests: a process that does the jobs of settling, eight at a time. Of each object it is told by its hash where to
// stay: before anything is noted, or when it has settled and nobody knows yet. It says when it is there.

import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openDatabase } from '@svc/database/open'
import { createQueue } from '@svc/queue/create-queue'
import type { SlowStore } from '@svc/storage/slow-store'
import { migrations } from '../../../src/db/migrations.ts'
import type { Schema } from '../../../src/db/schema.ts'
import { dropStaged, settleObject } from '../../../src/files/settling/settle-object.ts'
import { openStagedProviders } from './staged-providers.ts'

interface Orders {
  databaseUrl: string
  folder: string
  url: string
  now: number
  stayBefore: string
  stayAfter: string
}

const { databaseUrl, folder, url, stayBefore, stayAfter, ...at } = JSON.parse(process.argv[2] as string) as Orders
const now = () => at.now
const never = new Promise<never>(() => {})

/** At once: the process may be killed for it. */
function stay(where: string): Promise<never> {
  writeSync(1, `${where}\n`)
  return never
}

const wrap = (slow: SlowStore): SlowStore => ({
  ...slow,
  async settle(object) {
    if (object.sha256 === stayBefore) await stay('before')
    const settled = await slow.settle(object)
    if (object.sha256 === stayAfter) await stay('after')
    return settled
  },
})

const database = await openDatabase<Schema>({ url: databaseUrl, migrations })
const providers = await openStagedProviders({ folder, url, db: () => database.db, wrap })
const log = { warn() {}, error() {} }
const queue: Parameters<typeof settleObject>[0]['queue'] = await createQueue({
  database,
  databaseUrl,
  log,
  now,
  randomBytes,
})
const context = { database, providers, queue, now }
queue.handle('settle-object', { concurrency: 8 }, async ({ object_id }, { signal }) => {
  await settleObject(context, object_id, signal)
  return async () => {}
})
queue.handle('drop-staged', { concurrency: 8 }, async ({ object_id }, { signal }) => {
  await dropStaged(context, object_id, signal)
  return async () => {}
})
await queue.start()
