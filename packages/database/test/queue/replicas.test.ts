// @module-tag nightly

import { createFreshDatabase, forEachDatabaseInGate } from '@svc/devnet/databases'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { writable } from '@svc/devnet/writable'
import { expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/open.ts'
import type { QueueTables } from '../../src/queue/tables.ts'
import { openTestQueues } from './queues.ts'
import { noteTables, readNotes, START, writeNote } from './test-jobs.ts'

const program = new URL('./programs/replica.ts', import.meta.url)

interface Replica extends StartedProcess {
  tell(command: 'start' | `time ${number}` | `allow ${number}`): void
}

/** Resolves when all are ready. */
async function startReplicas(url: string, count: number): Promise<Replica[]> {
  const started = Array.from({ length: count }, () => startProcess(program, { args: [url] }))
  for (const { waitForLine } of started) await waitForLine(/ready/)
  return started.map((one) => ({ ...one, tell: (command) => void one.stdin.write(`${command}\n`) }))
}

forEachDatabaseInGate('three processes, one of which is killed repeatedly', (database) => {
  it('apply the effect of each of 150 jobs once', async () => {
    const { queue, db, clock, drainLater, notes } = await openTestQueues(database)
    const texts = Array.from({ length: 150 }, (_, i) => `${i}`.padStart(3, '0'))
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        for (const text of texts) await queue.enqueue(tx, 'note', { text })
      })
    const replicas = await startReplicas(database.url, 5)
    for (const replica of replicas.slice(0, 3)) replica.tell('start')

    while (replicas.length > 3) {
      const [victim, ...others] = replicas.slice(0, 3) as [Replica, ...Replica[]]
      for (const replica of [victim, ...others]) replica.tell('allow 12')
      for (let begun = 6 + (replicas.length % 5); begun > 0; begun--) await victim.waitForLine(/began/)
      await victim.kill()
      replicas.shift()
      replicas[2]?.tell('start')
      // This expires the leases of the other processes, too.
      clock.ms += 60_000
      for (const replica of replicas.slice(0, 3)) replica.tell(`time ${clock.ms}`)
    }
    await Promise.all(replicas.map(({ kill }) => kill()))
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
  const replicas = await startReplicas(url, 4)
  for (const replica of replicas) replica.tell(`time ${START}`)
  for (const replica of replicas) await replica.waitForLine(/drained/)
  await Promise.all(replicas.map(({ kill }) => kill()))
  const { db, close }: Database<QueueTables> = await openDatabase({ url, migrations: noteTables })
  expect(await readNotes(db)).toEqual(['tick'])
  await close()
})
