import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it, vi } from 'vitest'
import { openTestQueues } from './queues.ts'
import { writeNote } from './test-jobs.ts'

forEachDatabase('a schedule', (database) => {
  it('enqueues one job in each period, the first immediately, however many queues poll', async () => {
    const { open, clock, notes } = await openTestQueues(database)
    const queues = await Promise.all([open(), open(), open()])
    for (const queue of queues) {
      queue.handle('tick', {}, async () => writeNote('tick'))
      queue.every(60, 'tick', {})
    }
    for (let period = 1; period <= 5; period++) {
      await Promise.all(queues.map((queue) => queue.drain()))
      expect(await notes()).toHaveLength(period)
      clock.ms += 59_999
      await Promise.all(queues.map((queue) => queue.drain()))
      expect(await notes()).toHaveLength(period)
      clock.ms += 1
    }
  })

  it('skips missed periods and keeps its rhythm', async () => {
    const { queue, clock, notes } = await openTestQueues(database)
    queue.handle('tick', {}, async () => writeNote('tick'))
    queue.every(60, 'tick', {})
    await queue.drain()
    clock.ms += 10 * 60_000 + 30_000
    await queue.drain()
    expect(await notes()).toHaveLength(2)
    clock.ms += 30_000
    await queue.drain()
    expect(await notes()).toHaveLength(3)
  })

  it('does not accumulate jobs that no process runs', async () => {
    const { open, clock, notes } = await openTestQueues(database)
    const [queue, worker] = await Promise.all([open(), open()])
    queue.every(60, 'tick', {})
    for (let period = 0; period < 5; period++) {
      await queue.drain()
      clock.ms += 60_000
    }
    worker.handle('tick', {}, async () => writeNote('tick'))
    expect(await worker.drain()).toMatchObject({ done: 1 })
    expect(await notes()).toEqual(['tick'])
  })

  it('waits no longer than one period after the clock ran ahead', async () => {
    const { queue, clock, notes } = await openTestQueues(database)
    queue.handle('tick', {}, async () => writeNote('tick'))
    queue.every(60, 'tick', {})
    clock.ms += 365 * 86_400_000
    await queue.drain()
    clock.ms -= 365 * 86_400_000
    await queue.drain()
    expect(await notes()).toHaveLength(1)
    clock.ms += 60_000
    await queue.drain()
    expect(await notes()).toHaveLength(2)
  })

  it('fires by itself once workers are started', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    try {
      const { queue, clock } = await openTestQueues(database)
      let ticks = 0
      queue.handle('tick', {}, async () => async () => void ticks++)
      queue.every(60, 'tick', {})
      await queue.start()
      await expect.poll(() => ticks).toBe(1)
      clock.ms += 60_000
      vi.advanceTimersByTime(1000)
      await expect.poll(() => ticks).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('exists once for each kind, as a handler does', async () => {
    const { queue } = await openTestQueues(database)
    queue.every(60, 'tick', {})
    expect(() => queue.every(5, 'tick', {})).toThrow('tick')
    queue.handle('tick', {}, async () => async () => {})
    expect(() => queue.handle('tick', {}, async () => async () => {})).toThrow('tick')
  })
})
