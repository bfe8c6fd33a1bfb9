import { type Context, unixNow } from '../../context.ts'
import { findUnseen, seeSettling } from './store.ts'

/** Longer than the pause between two runs: a job must have got lost, or have been given up. */
const UNSEEN_SECONDS = 2 * 3600
const SWEEP_AT_ONCE = 500

/** Has objects that nobody goes about any more taken up again; tells how many. */
export async function sweepSettling(context: Context): Promise<number> {
  const { db } = context.database
  const now = unixNow(context)
  let queued = 0
  for (const object_id of await findUnseen(db, now - UNSEEN_SECONDS, SWEEP_AT_ONCE)) {
    await db.transaction().execute(async (tx) => {
      if (!(await seeSettling(tx, object_id, now))) return
      if (await context.queue.enqueue(tx, 'settle-object', { object_id }, { key: object_id })) queued++
    })
  }
  return queued
}
