import { type Context, unixNow } from '../context.ts'
import { closeDelegation } from './store.ts'

/** The owner has removed the key from the locker, and so ended the delegation: also where he registers it again. */
export async function noteRevoked(context: Context, delegationId: string): Promise<void> {
  await closeDelegation(context.database.db, delegationId, { state: 'revoked', at: unixNow(context) })
}
