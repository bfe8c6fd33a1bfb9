import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it, vi } from 'vitest'
import { LEASE_SECONDS } from '../../src/queue/engine.ts'
import { createGate, openTestQueues } from './queues.ts'
import { writeNote } from './test-jobs.ts'

forEachDatabase('the effect of a job', (database) => {
  it('is rolled back when it fails half way, and happens once after its retries', async () => {
    const { queue, enqueue, drainLater, notes } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }, { attempt }) => async (tx) => {
      await writeNote(text)(tx)
      await queue.enqueue(tx, 'other', { text: `after ${text}` })
      if (attempt < 3) throw new Error('half way')
    })
    queue.handle('other', {}, async ({ text }) => writeNote(text))
    await enqueue(queue, 'a')
    expect(await queue.drain()).toEqual({ done: 0, failed: 1, dead: 0 })
    expect(await notes()).toEqual([])
    expect(await drainLater(queue)).toEqual({ done: 2, failed: 1, dead: 0 })
    expect(await notes()).toEqual(['a', 'after a'])
  })

  it('is discarded while another run has the job, and the effect of that run then happens', async () => {
    const { open, enqueue, clock, notes } = await openTestQueues(database)
    const [slow, quick] = await Promise.all([open(), open()])
    const gates = { slow: createGate(), quick: createGate() }
    for (const [queue, gate, text] of [
      [slow, gates.slow, 'late'],
      [quick, gates.quick, 'in time'],
    ] as const) {
      queue.handle('note', {}, async () => {
        await gate.pass()
        return writeNote(text)
      })
    }
    await enqueue(slow, '')
    const hanging = slow.drain()
    await gates.slow.reached()
    clock.ms += 3_600_000
    const drained = quick.drain()
    if (database.dialect === 'postgres') {
      // pg-boss waits before it starts the next run.
      await drained
      clock.ms += 3_600_000
    }
    const second = quick.drain()
    await gates.quick.reached()
    gates.slow.open()
    expect(await hanging).toMatchObject({ done: 0 })
    expect(await notes()).toEqual([])
    gates.quick.open()
    await Promise.all([drained, second])
    expect(await notes()).toEqual(['in time'])
  })

  it('is not disturbed by an earlier run that fails after losing its lease', async () => {
    const { open, enqueue, drainLater, notes } = await openTestQueues(database)
    const [slow, quick] = await Promise.all([open(), open()])
    const gate = createGate()
    slow.handle('note', { maxAttempts: 1 }, async () => {
      await gate.pass()
      throw new Error('late')
    })
    quick.handle('note', {}, async () => writeNote('in time'))
    await enqueue(slow, '')
    const hanging = slow.drain()
    await gate.reached()
    expect(await drainLater(quick)).toMatchObject({ done: 1 })
    gate.open()
    expect(await hanging).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await notes()).toEqual(['in time'])
    expect(await quick.deadLetters()).toEqual([])
  })
})

forEachDatabase('a run that takes long', (database) => {
  it('keeps its job while it renews the lease, and loses it when it stops', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { open, enqueue, clock, drainLater, lastRenewal, notes } = await openTestQueues(database)
      const [slow, other] = await Promise.all([open(), open()])
      const gate = createGate()
      const run = Promise.withResolvers<AbortSignal>()
      slow.handle('note', {}, async (_payload, { signal }) => {
        run.resolve(signal)
        await gate.pass()
        return writeNote('slow')
      })
      other.handle('note', {}, async () => writeNote('other'))
      await enqueue(slow, '')
      const draining = slow.drain()
      const signal = await run.promise
      for (let renewal = 0; renewal < 5; renewal++) {
        clock.ms += (LEASE_SECONDS - 1) * 1000
        vi.advanceTimersByTime((LEASE_SECONDS / 3) * 1000)
        await vi.waitFor(async () => expect(await lastRenewal()).toBe(clock.ms), 60_000)
        expect(await other.drain()).toMatchObject({ done: 0 })
      }
      expect(signal.aborted).toBe(false)
      expect(await drainLater(other)).toMatchObject({ done: 1 })
      vi.advanceTimersByTime((LEASE_SECONDS / 3) * 1000)
      await vi.waitFor(() => expect(signal.aborted).toBe(true), 60_000)
      gate.open()
      expect(await draining).toEqual({ done: 0, failed: 0, dead: 0 })
      expect(await notes()).toEqual(['other'])
    } finally {
      vi.useRealTimers()
    }
  })
})
