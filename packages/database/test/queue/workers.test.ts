import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createGate, openTestQueues } from './queues.ts'
import { writeNote } from './test-jobs.ts'

forEachDatabase('started workers', (database) => {
  // They poll only when a test advances the timers by a second.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  it('run a new job immediately, without polling', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    const ran = new Map<string, () => void>()
    queue.handle('note', {}, async ({ text }) => async (tx) => {
      await writeNote(text)(tx)
      ran.get(text)?.()
    })
    await queue.start()
    for (let i = 0; i < 10; i++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      ran.set(`${i}`, resolve)
      await enqueue(queue, `${i}`)
      await promise
    }
    await queue.stop()
    expect(await notes()).toEqual(['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])
  })

  it('find due jobs when they poll', async () => {
    const { open, enqueue, clock } = await openTestQueues(database)
    const [queue, other] = await Promise.all([open(), open()])
    const ran = Promise.withResolvers<string>()
    queue.handle(
      'note',
      {},
      async ({ text }) =>
        async () =>
          ran.resolve(text),
    )
    await queue.start()
    await enqueue(other, 'a', { delaySeconds: 60 })
    clock.ms += 60_000
    vi.advanceTimersByTime(1000)
    expect(await ran.promise).toBe('a')
  })

  it('run as many jobs of a kind at once as its concurrency allows', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    const gate = createGate()
    let running = 0
    let most = 0
    queue.handle('note', { concurrency: 3 }, async ({ text }) => {
      most = Math.max(most, ++running)
      await gate.pass()
      return async (tx) => {
        running--
        await writeNote(text)(tx)
      }
    })
    for (let i = 0; i < 10; i++) await enqueue(queue, `${i}`)
    expect(await queue.counts()).toEqual({ note: { waiting: 10, delayed: 0, running: 0, dead: 0 } })
    await queue.start()
    await gate.reached(3)
    vi.advanceTimersByTime(5000)
    expect(await queue.counts()).toEqual({ note: { waiting: 7, delayed: 0, running: 3, dead: 0 } })
    gate.open()
    await gate.reached(10)
    await queue.stop()
    expect(most).toBe(3)
    expect(await notes()).toHaveLength(10)
  })

  it('continue after a handler fails in any way', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    const last = Promise.withResolvers<void>()
    queue.handle('note', {}, ({ text }) => {
      if (text === 'throws at once') throw new Error(text)
      if (text === 'throws no error') return Promise.reject(Object.create(null))
      return Promise.resolve(async (tx) => {
        if (text === 'breaks the transaction') await tx.selectFrom('nowhere' as never).execute()
        await writeNote(text)(tx)
        last.resolve()
      })
    })
    for (const text of ['throws at once', 'throws no error', 'breaks the transaction', 'good'])
      await enqueue(queue, text)
    await queue.start()
    await last.promise
    await queue.stop()
    expect(await notes()).toEqual(['good'])
  })
})

forEachDatabase('stopping', (database) => {
  it('waits for running jobs and claims no more jobs', async () => {
    const { open, enqueue, notes } = await openTestQueues(database)
    const [queue, other] = await Promise.all([open(), open()])
    const gate = createGate()
    queue.handle('note', {}, async ({ text }) => {
      await gate.pass()
      return writeNote(text)
    })
    await queue.start()
    await enqueue(queue, 'runs')
    await gate.reached()
    await enqueue(queue, 'waits')
    const stopping = queue.stop()
    gate.open()
    await stopping
    expect(await notes()).toEqual(['runs'])
    expect(await other.counts()).toEqual({ note: { waiting: 1, delayed: 0, running: 0, dead: 0 } })
  })

  it('releases jobs that do not end in time: another process runs them at once, and their own effects are discarded', async () => {
    const { open, enqueue, notes } = await openTestQueues(database)
    const [queue, other] = await Promise.all([open(), open()])
    const gate = createGate()
    const ended = Promise.withResolvers<void>()
    const run = Promise.withResolvers<AbortSignal>()
    queue.handle('note', {}, async (_payload, { signal }) => {
      run.resolve(signal)
      await gate.pass()
      ended.resolve()
      return writeNote('late')
    })
    other.handle('note', {}, async (_payload, { attempt }) => writeNote(`attempt ${attempt}`))
    await queue.start()
    await enqueue(queue, '')
    const signal = await run.promise
    await queue.stop({ graceMs: 0 })
    expect(signal.aborted).toBe(true)
    expect(await other.counts()).toEqual({ note: { waiting: 1, delayed: 0, running: 0, dead: 0 } })
    expect(await other.drain()).toEqual({ done: 1, failed: 0, dead: 0 })
    gate.open()
    await ended.promise
    expect(await other.drain()).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await notes()).toEqual(['attempt 1'])
  })

  it('does not start jobs that were claimed at the last moment', async () => {
    const { open, enqueue, db } = await openTestQueues(database)
    const [queue, other] = await Promise.all([open(), open()])
    queue.handle('note', {}, async () => writeNote('too late'))
    await enqueue(queue, 'a')
    const stopping = await writable(db)
      .transaction()
      .execute(async (tx) => {
        // As on SQLite, no job can be claimed before this transaction ends.
        if (database.dialect === 'postgres') await sql`lock table pgboss.job in exclusive mode`.execute(tx)
        await queue.start()
        return { stopped: queue.stop() }
      })
    await stopping.stopped
    expect(await other.counts()).toEqual({ note: { waiting: 1, delayed: 0, running: 0, dead: 0 } })
  })

  it('does not use up the attempts of a job, however often it happens', async () => {
    const { open, enqueue, drainLater, notes } = await openTestQueues(database)
    for (let time = 0; time < 4; time++) {
      const queue = await open()
      const gate = createGate()
      queue.handle('note', { maxAttempts: 2 }, async () => {
        await gate.pass()
        return async () => {}
      })
      if (time === 0) await enqueue(queue, '')
      const draining = queue.drain()
      await gate.reached()
      await queue.stop({ graceMs: 0 })
      gate.open()
      expect(await draining).toEqual({ done: 0, failed: 0, dead: 0 })
    }
    const last = await open()
    last.handle('note', { maxAttempts: 2 }, async (_payload, { attempt }) => {
      if (attempt === 1) throw new Error('once')
      return writeNote(`attempt ${attempt}`)
    })
    expect(await drainLater(last)).toEqual({ done: 1, failed: 1, dead: 0 })
    expect(await notes()).toEqual(['attempt 2'])
  })
})
