// For tests: a worker process that takes commands on standard input. It prints a line when a job begins, and then waits
// until it is allowed to finish it.

import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openDatabase } from '../../../src/open.ts'
import { createQueue } from '../../../src/queue/create-queue.ts'
import type { QueueTables } from '../../../src/queue/tables.ts'
import { noteTables, START, silentLog, type TestJobs, writeNote } from '../test-jobs.ts'

const databaseUrl = process.argv[2] as string
let now = START
let allowed = 0
const waiting: (() => void)[] = []

const database = await openDatabase<QueueTables>({ url: databaseUrl, migrations: noteTables })
const queue = await createQueue<TestJobs>({ database, databaseUrl, now: () => now, log: silentLog, randomBytes })
queue.handle('note', { concurrency: 5, maxAttempts: 1000 }, async ({ text }) => {
  print('began')
  if (allowed > 0) allowed--
  else await new Promise<void>((resolve) => waiting.push(resolve))
  return writeNote(text)
})
queue.handle('tick', {}, async () => writeNote('tick'))
queue.every(60, 'tick', {})

const commands: Record<string, (number: number) => Promise<unknown>> = {
  start: () => queue.start(),
  async time(ms) {
    now = ms
    void queue.drain().then(() => print('drained'))
  },
  async allow(count) {
    allowed += count
    while (allowed > 0 && waiting.length > 0) {
      allowed--
      waiting.shift()?.()
    }
  },
}

print('ready')
for await (const line of createInterface(process.stdin)) {
  const [command, number] = line.split(' ') as [string, string]
  await commands[command]?.(Number(number))
}

/** Written at once, because the process may be killed next. */
function print(line: string): void {
  writeSync(1, `${line}\n`)
}
