import { type Context, unixNow } from '../context.ts'
import { LONGEST_PERIOD_SECONDS, LONGEST_RUN_SECONDS } from './runs/begin-run.ts'
import { findDue, findUnchecked } from './runs/store.ts'

/** Makes the jobs that are due; one that waits already is not made twice. */
export async function enqueueDueWork(context: Context): Promise<void> {
  const { db } = context.database
  const now = unixNow(context)
  const due = { now, farAhead: now + LONGEST_PERIOD_SECONDS }
  const current = { from: now - LONGEST_RUN_SECONDS, to: now + LONGEST_RUN_SECONDS }
  await enqueue(context, 'check-registration', await findUnchecked(db, due))
  for (const task of ['mirror', 'watch'] as const) await enqueue(context, task, await findDue(db, task, due, current))
}

async function enqueue(
  { database, queue }: Context,
  kind: 'check-registration' | 'mirror' | 'watch',
  delegationIds: readonly string[],
): Promise<void> {
  if (delegationIds.length === 0) return
  await database.db.transaction().execute(async (tx) => {
    for (const delegation_id of delegationIds) await queue.enqueue(tx, kind, { delegation_id }, { key: delegation_id })
  })
}
