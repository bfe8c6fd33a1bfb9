import { forEachDatabaseInGate } from '@svc/devnet/databases'
import { startProcess } from '@svc/devnet/start-process'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
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
      let ran = Promise.withResolvers<void>()
      queue.handle('note', {}, async () => async () => ran.resolve())
      await queue.start()
      await enqueue(queue, 'before')
      await ran.promise
      ran = Promise.withResolvers<void>()
      await sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(db)
      // An enqueue that fails notices that its connection is gone.
      await expect.poll(() => enqueue(queue, 'after')).toEqual(expect.any(String))
      await ran.promise
    })
  }
})
