// @module-tag nightly

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '@svc/database/open'
import { createFreshDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { expect, it, onTestFinished } from 'vitest'
import type { QueueTables } from '../src/tables.ts'
import { noteTables, readNotes, START, writeNote } from './notes.ts'
import { openTestQueues } from './queues.ts'

const program = fileURLToPath(new URL('./programs/replica.ts', import.meta.url))

interface Replica {
  child: ChildProcess
  tell(command: 'start' | `time ${number}` | `allow ${number}`): void
  /** Resolves when it has printed this line so many times. */
  says(line: string, times?: number): Promise<void>
}

function startReplica(url: string): Replica {
  const child = spawn(process.execPath, [program, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return {
    child,
    tell: (command) => void child.stdin.write(`${command}\n`),
    async says(wanted, times = 1) {
      for (let left = times; left > 0; ) {
        const { value, done } = await lines.next()
        if (done) throw new Error(`it exited before it printed "${wanted}"`)
        if (value === wanted) left--
      }
    },
  }
}

async function kill({ child }: Replica): Promise<void> {
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

forEachDatabaseInGate('three processes, one of which is killed repeatedly', (database) => {
  it('give each of 150 jobs its effect once', async () => {
    const { queue, db, clock, drainLater, notes } = await openTestQueues(database)
    const texts = Array.from({ length: 150 }, (_, i) => `${i}`.padStart(3, '0'))
    await db.transaction().execute(async (tx) => {
      for (const text of texts) await queue.enqueue(tx, 'note', { text })
    })
    const replicas = Array.from({ length: 5 }, () => startReplica(database.url))
    for (const replica of replicas) await replica.says('ready')
    for (const replica of replicas.slice(0, 3)) replica.tell('start')

    while (replicas.length > 3) {
      const [victim, ...others] = replicas.slice(0, 3) as [Replica, ...Replica[]]
      for (const replica of [victim, ...others]) replica.tell('allow 12')
      await victim.says('began', 6 + (replicas.length % 5))
      await kill(victim)
      replicas.shift()
      replicas[2]?.tell('start')
      // This expires the leases of the other processes, too.
      clock.ms += 60_000
      for (const replica of replicas.slice(0, 3)) replica.tell(`time ${clock.ms}`)
    }
    await Promise.all(replicas.map(kill))
    const before = await notes()
    expect(before.length).toBeGreaterThan(0)
    expect(before.length).toBeLessThan(120)

    queue.handle('note', { concurrency: 50, maxAttempts: 1000 }, async ({ text }) => writeNote(text))
    await drainLater(queue)
    expect(await queue.counts()).toMatchObject({ note: { waiting: 0, delayed: 0, running: 0, dead: 0 } })
    expect((await notes()).filter((text) => text !== 'tick')).toEqual(texts)
  })
})

it('four processes may start at once with an empty PostgreSQL database', async () => {
  const { url, drop } = await createFreshDatabase('postgres')
  onTestFinished(drop)
  const replicas = Array.from({ length: 4 }, () => startReplica(url))
  for (const replica of replicas) await replica.says('ready')
  for (const replica of replicas) replica.tell(`time ${START}`)
  for (const replica of replicas) await replica.says('drained')
  await Promise.all(replicas.map(kill))
  const { db, close }: Database<QueueTables> = await openDatabase({ url, migrations: noteTables })
  expect(await readNotes(db)).toEqual(['tick'])
  await close()
})
