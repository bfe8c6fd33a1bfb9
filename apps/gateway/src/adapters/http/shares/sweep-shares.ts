import { type Context, unixNow } from '../../../context.ts'
import { deleteExpiredShares } from './store.ts'

/** Shares deleted by one transaction, so that other writers do not wait long. */
const BATCH = 1000

/** Deletes expired shares. Those that were ended are already deleted. */
export async function sweepShares(context: Context, signal: AbortSignal): Promise<void> {
  for (let deleted = BATCH; deleted === BATCH; ) {
    signal.throwIfAborted()
    deleted = await context.database.commit((tx) => deleteExpiredShares(tx, unixNow(context), BATCH))
  }
}
