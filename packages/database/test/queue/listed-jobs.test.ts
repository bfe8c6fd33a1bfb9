import { forEachDatabase } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { expect, it } from 'vitest'
import { PermanentError } from '../../src/queue/queue.ts'
import { openTestQueues } from './queues.ts'

forEachDatabase('listed jobs', (database) => {
  it('ADD-25 are listed by state, page by page, found by id, and dead ones deleted or retried in a transaction', async () => {
    const { queue, enqueue, clock, db } = await openTestQueues(database)
    queue.handle('note', { concurrency: 3 }, async () => {
      throw new PermanentError('never')
    })
    const dead: (string | null)[] = []
    for (let i = 0; i < 3; i++) {
      dead.push(await enqueue(queue, String(i)))
      await queue.drain()
      clock.ms += 1000
    }
    const waiting = await enqueue(queue, 'later', { key: 'k' })
    const delayed = await enqueue(queue, 'much later', { delaySeconds: 60 })
    const page = { kind: null, after: null, limit: 2 }

    const first = await queue.list({ ...page, state: 'dead' })
    expect(first.map(({ id }) => id)).toEqual([dead[2], dead[1]])
    const rest = await queue.list({ ...page, state: 'dead', after: { at: first[1]!.at, id: first[1]!.id } })
    expect(rest).toMatchObject([{ id: dead[0], attempts: 1, error: expect.stringContaining('never') }])
    expect(await queue.list({ ...page, state: 'dead', kind: 'other' })).toEqual([])

    expect(await queue.list({ ...page, state: 'waiting' })).toMatchObject([{ id: waiting, key: 'k', attempts: 0 }])
    expect(await queue.list({ ...page, state: 'delayed' })).toMatchObject([{ id: delayed, at: clock.ms + 60_000 }])
    expect(await queue.list({ ...page, state: 'running' })).toEqual([])
    const last = { at: clock.ms + 60_000, id: delayed! }
    expect(await queue.list({ ...page, state: 'delayed', after: last })).toEqual([])

    expect(await queue.find(waiting!)).toMatchObject({ state: 'waiting', payload: { text: 'later' }, error: null })
    expect(await queue.find(dead[0]!)).toMatchObject({ state: 'dead' })
    expect(await queue.find('no such job')).toBeNull()

    const within = <T>(work: (tx: Parameters<typeof queue.deleteDeadIn>[0]) => Promise<T>) =>
      writable(db).transaction().execute(work)
    expect(await within((tx) => queue.deleteDeadIn(tx, dead[0]!))).toBe(true)
    expect(await within((tx) => queue.deleteDeadIn(tx, dead[0]!))).toBe(false)
    const retried = await within((tx) => queue.retryDeadIn(tx, dead[1]!))
    expect(await queue.find(retried!.id!)).toMatchObject({ state: 'waiting', payload: { text: '1' } })
    expect(await within((tx) => queue.retryDeadIn(tx, dead[1]!))).toBeNull()
  })
})
