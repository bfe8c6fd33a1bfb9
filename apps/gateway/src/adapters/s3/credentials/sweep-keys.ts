import { type Context, unixNow } from '../../../context.ts'
import { deleteExpiredKeys } from './store.ts'

/** Keys deleted by one transaction, so that other writers do not wait long. */
const BATCH = 1000

/** Deletes expired keys. Revoked keys are already deleted. */
export async function sweepKeys(context: Context, signal: AbortSignal): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await context.database.commit((tx) => deleteExpiredKeys(tx, unixNow(context), BATCH))
  }
}
