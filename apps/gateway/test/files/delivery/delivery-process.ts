// A process that runs the delivery jobs, eight at a time. It stops forever at two objects, which its arguments name by
// their hashes: before the first note of one, and after the delivery of the other but before that is recorded. It prints
// a line at each.

import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { openDatabase } from '@svc/database/open'
import { createQueue } from '@svc/database/queue/create-queue'
import type { SlowStore } from '@svc/storage/slow-store'
import type { DocumentId } from '../../../src/continuity/document-id.ts'
import { migrations } from '../../../src/db/migrations.ts'
import type { Schema } from '../../../src/db/schema.ts'
import { deliverObject, dropStaged } from '../../../src/files/delivery/deliver-object.ts'
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

/** Writes synchronously, because the process may be killed right after. */
function stay(where: string): Promise<never> {
  writeSync(1, `${where}\n`)
  return never
}

const wrap = (slow: SlowStore): SlowStore => ({
  ...slow,
  async deliver(object) {
    if (object.sha256 === stayBefore) await stay('before')
    const delivered = await slow.deliver(object)
    if (object.sha256 === stayAfter) await stay('after')
    return delivered
  },
})

const database = await openDatabase<Schema, DocumentId>({ url: databaseUrl, migrations })
const providers = await openStagedProviders({ folder, url, db: () => database.db, wrap })
const log = { warn() {}, error() {} }
const queue: Parameters<typeof deliverObject>[0]['queue'] = await createQueue({
  database,
  databaseUrl,
  log,
  now,
  randomBytes,
})
const context = { database, providers, queue, now }
queue.handle('settle-object', { concurrency: 8 }, async ({ object_id }, { signal }) => {
  await deliverObject(context, object_id, signal)
  return async () => {}
})
queue.handle('drop-staged', { concurrency: 8 }, async ({ object_id }, { signal }) => {
  await dropStaged(context, object_id, signal)
  return async () => {}
})
await queue.start()
