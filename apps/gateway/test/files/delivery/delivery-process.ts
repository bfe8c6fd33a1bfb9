// A process that runs the delivery jobs, eight at a time. It blocks forever at two objects, which its arguments name by
// their hashes: at one before its first record, at the other after its delivery but before that is recorded. It prints
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
  blockBefore: string
  blockAfter: string
}

const { databaseUrl, folder, url, blockBefore, blockAfter, ...at } = JSON.parse(process.argv[2] as string) as Orders
const now = () => at.now
const never = new Promise<never>(() => {})

/** Writes synchronously, because the process may be killed right after. */
function block(where: string): Promise<never> {
  writeSync(1, `${where}\n`)
  return never
}

const wrap = (slow: SlowStore): SlowStore => ({
  ...slow,
  async deliver(object) {
    if (object.sha256 === blockBefore) await block('before')
    const delivered = await slow.deliver(object)
    if (object.sha256 === blockAfter) await block('after')
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
