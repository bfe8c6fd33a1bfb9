// For tests: opens a queue, and prints whether pg-boss was loaded for it.

import { randomBytes } from 'node:crypto'
import { registerHooks } from 'node:module'
import { openDatabase } from '@svc/database/open'
import type { QueueTables } from '../../src/tables.ts'
import { noteTables, silentLog, type TestJobs } from '../notes.ts'

let isLoaded = false
registerHooks({
  load(url, context, next) {
    if (url.includes('/node_modules/pg-boss/')) isLoaded = true
    return next(url, context)
  },
})
const { createQueue } = await import('../../src/create-queue.ts')
const databaseUrl = process.argv[2] as string
const database = await openDatabase<QueueTables>({ url: databaseUrl, migrations: noteTables })
const queue = await createQueue<TestJobs>({ database, databaseUrl, now: Date.now, log: silentLog, randomBytes })
queue.handle('note', {}, async () => async () => {})
await database.db.transaction().execute((tx) => queue.enqueue(tx, 'note', { text: '' }))
const { done } = await queue.drain()
await queue.stop()
await database.close()
console.log(JSON.stringify({ done, isLoaded }))
