import type { Tx } from '../../db/schema.ts'
import { deleteWalletS3Key, lockersOwnedBy, lockLockersOf } from '../../lockers/store.ts'
import { expireSessionsOfKey } from './store.ts'

/** Ends an S3 key of a wallet, with the uploads that were begun with it. False when the wallet has no such key. */
export async function endWalletKey(tx: Tx, wallet: string, accessKeyId: string): Promise<boolean> {
  const lockers = (await lockersOwnedBy(tx, wallet)).map(({ locker_id }) => locker_id)
  // Sessions are locked before their lockers, as everywhere; then those are left that were opened until these were locked.
  for (const lockerId of lockers) await expireSessionsOfKey(tx, lockerId, accessKeyId)
  // A writer that uses the key at the moment holds the lock of its locker, and is through before the key ends.
  const locked = await lockLockersOf(tx, wallet)
  const isEnded = await deleteWalletS3Key(tx, wallet, accessKeyId)
  for (const lockerId of locked) await expireSessionsOfKey(tx, lockerId, accessKeyId)
  return isEnded
}
