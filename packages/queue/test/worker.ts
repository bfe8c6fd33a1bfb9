// For tests: a process that works, as it is told on standard input. It says when it begins a job, and then waits for
// leave to go on.

import { randomBytes } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openDatabase } from '@svc/database/open'
import { createQueue } from '../src/create-queue.ts'
import type { QueueTables } from '../src/tables.ts'
import { noteTables, START, silentLog, type TestJobs, writeNote } from './notes.ts'

const databaseUrl = process.argv[2] as string
let now = START
let leaves = 0
const waiting: (() => void)[] = []

const database = await openDatabase<QueueTables>({ url: databaseUrl, migrations: noteTables })
const queue = await createQueue<TestJobs>({ database, databaseUrl, now: () => now, log: silentLog, randomBytes })
queue.handle('note', { concurrency: 5, maxAttempts: 1000 }, async ({ text }) => {
  say('began')
  if (leaves > 0) leaves--
  else await new Promise<void>((resolve) => waiting.push(resolve))
  return writeNote(text)
})
queue.handle('tick', {}, async () => writeNote('tick'))
queue.every(60, 'tick', {})

const commands: Record<string, (number: number) => Promise<unknown>> = {
  start: () => queue.start(),
  async time(ms) {
    now = ms
    void queue.drain().then(() => say('drained'))
  },
  async leave(count) {
    leaves += count
    while (leaves > 0 && waiting.length > 0) {
      leaves--
      waiting.shift()?.()
    }
  },
}

say('ready')
for await (const line of createInterface(process.stdin)) {
  const [command, number] = line.split(' ') as [string, string]
  await commands[command]?.(Number(number))
}

/** At once, also where the process is about to be killed. */
function say(line: string): void {
  writeSync(1, `${line}\n`)
}
