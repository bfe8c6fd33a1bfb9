import { type Context, unixNow } from '../../../context.ts'
import { deleteExpiredKeys } from './store.ts'

/** Keys that one transaction deletes, so that other writers do not wait long. */
const BATCH = 1000

/** Deletes keys whose time is over. Revoked ones are gone already. */
export async function sweepKeys(context: Context, signal: AbortSignal): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await context.database.commit((tx) => deleteExpiredKeys(tx, unixNow(context), BATCH))
  }
}
