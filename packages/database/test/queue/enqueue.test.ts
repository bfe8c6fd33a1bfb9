import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { writable } from '@svc/devnet/writable'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { createGate, openTestQueues } from './queues.ts'
import { readNotes, writeNote } from './test-jobs.ts'

forEachDatabaseInGate('a job that is enqueued', (database) => {
  it('runs once, with its payload', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }) => writeNote(text))
    expect(await enqueue(queue, 'a')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(await queue.drain()).toEqual({ done: 1, failed: 0, dead: 0 })
    expect(await queue.drain()).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await notes()).toEqual(['a'])
  })

  it('exists only if its transaction commits', async () => {
    const { queue, db, notes } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }) => writeNote(text))
    const failing = writable(db)
      .transaction()
      .execute(async (tx) => {
        await writeNote('before')(tx)
        expect(await queue.enqueue(tx, 'note', { text: 'a' })).not.toBeNull()
        expect(await queue.enqueue(tx, 'note', { text: 'b' }, { key: 'b' })).not.toBeNull()
        throw new Error('rolled back')
      })
    await expect(failing).rejects.toThrow('rolled back')
    expect(await queue.drain()).toEqual({ done: 0, failed: 0, dead: 0 })
    expect(await notes()).toEqual([])
    expect(await queue.counts()).toEqual({ note: { waiting: 0, delayed: 0, running: 0, dead: 0 } })
  })

  it('does not run before its delay has passed', async () => {
    const { queue, enqueue, clock, notes } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }) => writeNote(text))
    await enqueue(queue, 'later', { delaySeconds: 60 })
    await enqueue(queue, 'now')
    expect(await queue.drain()).toMatchObject({ done: 1 })
    clock.ms += 59_000
    expect(await queue.drain()).toMatchObject({ done: 0 })
    expect(await queue.counts()).toMatchObject({ note: { waiting: 0, delayed: 1 } })
    clock.ms += 1_000
    expect(await queue.counts()).toMatchObject({ note: { waiting: 1, delayed: 0 } })
    expect(await queue.drain()).toMatchObject({ done: 1 })
    expect(await notes()).toEqual(['later', 'now'])
  })

  it('carries any text that JSON can hold', async () => {
    const { queue, enqueue } = await openTestQueues(database)
    const received: string[] = []
    queue.handle('note', {}, async ({ text }) => {
      received.push(text)
      return async () => {}
    })
    const texts = ['', '\0', 'a\0b', '\ud800', '"\\', '\u2028', '💾', "'; drop table jobs; --", 'x'.repeat(1e6)]
    for (const text of texts) await enqueue(queue, text)
    expect(await queue.drain()).toMatchObject({ done: texts.length })
    expect(received.sort()).toEqual(texts.sort())
  })

  if (database.dialect === 'postgres') {
    it('runs even if the database connections of its worker were lost', async () => {
      const { queue, enqueue, db } = await openTestQueues(database)
      let runs = 0
      queue.handle('note', {}, async () => async () => void runs++)
      await queue.start()
      await enqueue(queue, 'before')
      await expect.poll(() => runs).toBe(1)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
      // An enqueue that fails detects that its connection is gone.
      await vi.waitFor(() => enqueue(queue, 'after'), 60_000)
      await expect.poll(() => runs).toBeGreaterThan(1)
    })
  }
})

forEachDatabaseInGate('a key', (database) => {
  it('prevents two jobs of its kind from waiting at the same time, and affects no other jobs', async () => {
    const { queue, enqueue, db, notes } = await openTestQueues(database)
    for (const kind of ['note', 'other'] as const) queue.handle(kind, {}, async ({ text }) => writeNote(text))
    expect(await enqueue(queue, 'first', { key: 'k' })).not.toBeNull()
    expect(await enqueue(queue, 'second', { key: 'k' })).toBeNull()
    expect(await enqueue(queue, 'delayed', { key: 'k', delaySeconds: 9 })).toBeNull()
    expect(await enqueue(queue, 'another key', { key: 'K' })).not.toBeNull()
    expect(await enqueue(queue, 'no key')).not.toBeNull()
    expect(await enqueue(queue, 'no key')).not.toBeNull()
    const other = writable(db)
      .transaction()
      .execute((tx) => queue.enqueue(tx, 'other', { text: 'another kind' }, { key: 'k' }))
    expect(await other).not.toBeNull()
    expect(await queue.drain()).toMatchObject({ done: 5 })
    expect(await notes()).toEqual(['another key', 'another kind', 'first', 'no key', 'no key'])
    expect(await enqueue(queue, 'third', { key: 'k' })).not.toBeNull()
    await writable(db)
      .transaction()
      .execute(async (tx) => {
        expect(await queue.enqueue(tx, 'note', { text: 'a' }, { key: 'one transaction' })).not.toBeNull()
        expect(await queue.enqueue(tx, 'note', { text: 'b' }, { key: 'one transaction' })).toBeNull()
      })
  })

  it('admits one of many concurrent jobs', async () => {
    const { open, enqueue } = await openTestQueues(database)
    const queues = await Promise.all([open(), open()])
    const ids = await Promise.all(Array.from({ length: 20 }, (_, i) => enqueue(queues[i % 2]!, `${i}`, { key: 'k' })))
    expect(ids.filter((id) => id !== null)).toHaveLength(1)
  })

  it('ignores a running job, which may have missed the change', async () => {
    const { queue, enqueue, notes } = await openTestQueues(database)
    const gate = createGate()
    queue.handle('note', {}, async ({ text }) => {
      await gate.pass()
      return writeNote(text)
    })
    await enqueue(queue, 'first', { key: 'k' })
    const draining = queue.drain()
    await gate.reached()
    expect(await enqueue(queue, 'second', { key: 'k' })).not.toBeNull()
    expect(await enqueue(queue, 'third', { key: 'k' })).toBeNull()
    gate.open()
    expect(await draining).toMatchObject({ done: 2 })
    expect(await notes()).toEqual(['first', 'second'])
  })

  it('counts a failed job that waits for its retry', async () => {
    const { queue, enqueue, drainLater } = await openTestQueues(database)
    queue.handle('note', {}, async ({ text }, { attempt }) => {
      if (attempt === 1) throw new Error('not yet')
      return writeNote(text)
    })
    await enqueue(queue, 'first', { key: 'k' })
    expect(await queue.drain()).toMatchObject({ failed: 1 })
    expect(await enqueue(queue, 'second', { key: 'k' })).toBeNull()
    expect(await drainLater(queue)).toMatchObject({ done: 1, failed: 0 })
  })

  it('makes a waiting job see the changes of a transaction that enqueued the same key', async () => {
    const { open, enqueue, db } = await openTestQueues(database)
    const [queue, worker] = await Promise.all([open(), open()])
    const seen: string[][] = []
    worker.handle('note', {}, async () => {
      seen.push(await readNotes(db))
      return async () => {}
    })
    await enqueue(queue, '', { key: 'k' })
    const draining = await writable(db)
      .transaction()
      .execute(async (tx) => {
        await writeNote('change')(tx)
        expect(await queue.enqueue(tx, 'note', { text: '' }, { key: 'k' })).toBeNull()
        const drained = worker.drain()
        // SQLite makes the worker wait for this transaction; on PostgreSQL the worker polls and finds nothing.
        if (database.dialect === 'postgres') expect(await drained).toMatchObject({ done: 0 })
        return { drained }
      })
    await draining.drained
    await worker.drain()
    expect(seen).toEqual([['change']])
  })
})
