import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { sql } from 'kysely'
import { expect, it, vi } from 'vitest'
import { openTestQueues } from './queues.ts'

const program = new URL('./programs/load-queue.ts', import.meta.url)

forEachDatabaseInGate('a process with a queue', (database) => {
  it('loads pg-boss only for PostgreSQL, uses the real time, and exits when it is done', {
    tags: ['nightly'],
  }, async () => {
    const { stdout } = await startProcess(program, { args: [database.url] }).ended
    expect(JSON.parse(stdout)).toEqual({ done: 1, isLoaded: database.dialect === 'postgres' })
  })

  if (database.dialect === 'postgres') {
    it('works again after its database connections were lost', async () => {
      const { open, enqueue, db } = await openTestQueues(database)
      const queue = await open()
      let runs = 0
      queue.handle('note', {}, async () => async () => void runs++)
      await queue.start()
      await enqueue(queue, 'before')
      await expect.poll(() => runs).toBe(1)
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
      // An enqueue that fails notices that its connection is gone.
      await vi.waitFor(() => enqueue(queue, 'after'), 60_000)
      await expect.poll(() => runs).toBeGreaterThan(1)
    })
  }
})
