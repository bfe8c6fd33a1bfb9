import { forEachDatabase } from '@svc/devnet/databases'
import { expect, it } from 'vitest'
import { PermanentError } from '../../src/queue/queue.ts'
import { createGate, openTestQueues } from './queues.ts'
import { writeNote } from './test-jobs.ts'

forEachDatabase('a job that fails', (database) => {
  it('is retried after delays that double', async () => {
    const { queue, enqueue, clock } = await openTestQueues(database)
    queue.handle('note', {}, async () => {
      throw new Error('never')
    })
    await enqueue(queue, '')
    expect(await queue.drain()).toMatchObject({ failed: 1 })
    for (const shortest of [5, 10, 20, 40]) {
      clock.ms += shortest * 1000 - 1
      expect(await queue.drain()).toMatchObject({ failed: 0 })
      clock.ms += shortest * 1000 + 1
      expect(await queue.drain()).toMatchObject({ failed: 1 })
    }
  })

  it('is not retried at the same moment as all jobs that failed with it', async () => {
    const { queue, enqueue, clock } = await openTestQueues(database)
    queue.handle('note', { concurrency: 40 }, async (_payload, { attempt }) => {
      if (attempt === 1) throw new Error('all together')
      return async () => {}
    })
    for (let i = 0; i < 40; i++) await enqueue(queue, '')
    expect(await queue.drain()).toMatchObject({ failed: 40 })
    for (let half = 0; half < 2; half++) {
      clock.ms += half === 0 ? 7500 : 2500
      const { done } = await queue.drain()
      expect(done).toBeGreaterThan(0)
      expect(done).toBeLessThan(40)
    }
    expect(await queue.counts()).toEqual({ note: { waiting: 0, delayed: 0, running: 0, dead: 0 } })
  })

  it('T-140 is deleted ninety days after it failed permanently', async () => {
    const { queue, enqueue, clock } = await openTestQueues(database)
    queue.handle('note', {}, async () => {
      throw new PermanentError('never')
    })
    await enqueue(queue, '')
    await queue.drain()
    clock.ms += 90 * 86_400_000
    await queue.deleteOldDead()
    expect(await queue.deadLetters()).toHaveLength(1)
    clock.ms += 1
    await queue.deleteOldDead()
    expect(await queue.deadLetters()).toEqual([])
  })

  it('becomes a dead letter with its error after its last attempt', async () => {
    const { queue, enqueue, drainLater, clock } = await openTestQueues(database)
    queue.handle('note', { maxAttempts: 3 }, async (_payload, { attempt }) => {
      throw new TypeError(`attempt ${attempt} \0 \ud800 failed`)
    })
    const id = await enqueue(queue, 'a')
    expect(await queue.drain()).toEqual({ done: 0, failed: 1, dead: 0 })
    expect(await drainLater(queue)).toEqual({ done: 0, failed: 1, dead: 1 })
    expect(await drainLater(queue)).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await queue.deadLetters()).toEqual([
      {
        id,
        kind: 'note',
        payload: { text: 'a' },
        error: 'TypeError: attempt 3  \ufffd failed',
        attempts: 3,
        failed_at: new Date(clock.ms - 2 * 3_600_000).toISOString(),
      },
    ])
    expect(await queue.counts()).toEqual({ note: { waiting: 0, delayed: 0, running: 0, dead: 1 } })
  })

  it('has as many attempts as it was enqueued with', async () => {
    const { queue, enqueue, drainLater } = await openTestQueues(database)
    queue.handle('note', { maxAttempts: 1 }, async () => {
      throw new Error('never')
    })
    await enqueue(queue, 'a', { maxAttempts: 2 })
    expect(await queue.drain()).toMatchObject({ failed: 1, dead: 0 })
    expect(await drainLater(queue)).toMatchObject({ failed: 0, dead: 1 })
  })

  it('becomes a dead letter at once after a PermanentError', async () => {
    const { queue, enqueue } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }) => {
      if (text === 'in the handler') throw new PermanentError('no such locker')
      return async () => {
        throw new PermanentError('no such file')
      }
    })
    await enqueue(queue, 'in the handler')
    await enqueue(queue, 'in the effect')
    expect(await queue.drain()).toEqual({ done: 0, failed: 0, dead: 2 })
    const dead = await queue.deadLetters()
    expect(dead.map(({ error, attempts }) => `${error} ${attempts}`).sort()).toEqual([
      'PermanentError: no such file 1',
      'PermanentError: no such locker 1',
    ])
    expect(await queue.deadLetters(1)).toHaveLength(1)
  })

  it('becomes a dead letter when all of its runs end without a result', async () => {
    const { open, enqueue, drainLater, notes } = await openTestQueues(database)
    const gate = createGate()
    const dead = await Promise.all([open(), open()])
    const last = await open()
    const begun: Promise<unknown>[] = []
    for (const queue of [...dead, last]) {
      queue.handle('note', { maxAttempts: 2 }, async () => {
        await gate.pass()
        return writeNote('too late')
      })
    }
    await enqueue(last, 'a')
    for (const [i, queue] of dead.entries()) {
      begun.push(drainLater(queue))
      await gate.reached(i + 1)
    }
    expect(await drainLater(last)).toEqual({ done: 0, failed: 0, dead: 1 })
    expect(await last.deadLetters()).toMatchObject([
      { error: 'Error: its last run ended without a result', attempts: 2 },
    ])
    gate.open()
    await Promise.all(begun)
    expect(await notes()).toEqual([])
  })
})

forEachDatabase('a dead letter', (database) => {
  it('can be retried once, as a new job', async () => {
    const { queue, enqueue, drainLater, notes } = await openTestQueues(database)
    let isBroken = true
    queue.handle('note', { maxAttempts: 2 }, async ({ text }, { attempt }) => {
      if (isBroken || attempt === 1) throw new Error('broken')
      return writeNote(text)
    })
    const id = (await enqueue(queue, 'a', { key: 'k' })) as string
    expect(await drainLater(queue)).toMatchObject({ dead: 1 })
    isBroken = false
    expect((await Promise.all([queue.retryDead(id), queue.retryDead(id)])).sort()).toEqual([false, true])
    expect(await queue.retryDead('no such job')).toBe(false)
    expect(await queue.deadLetters()).toEqual([])
    expect(await enqueue(queue, 'b', { key: 'k' })).toBeNull()
    expect(await drainLater(queue)).toEqual({ done: 1, failed: 1, dead: 0 })
    expect(await notes()).toEqual(['a'])
  })

  it('is dropped when it is retried while a job with its key waits', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    let isBroken = true
    queue.handle('note', {}, async ({ text }) => {
      if (isBroken) throw new PermanentError('broken')
      return writeNote(text)
    })
    const id = (await enqueue(queue, 'a', { key: 'k' })) as string
    expect(await queue.drain()).toMatchObject({ dead: 1 })
    isBroken = false
    await enqueue(queue, 'b', { key: 'k' })
    expect(await queue.retryDead(id)).toBe(true)
    expect(await queue.drain()).toMatchObject({ done: 1 })
    expect(await notes()).toEqual(['b'])
    expect(await queue.deadLetters()).toEqual([])
  })
})
