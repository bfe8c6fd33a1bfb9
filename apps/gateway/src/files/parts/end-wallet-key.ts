import type { Tx } from '../../db/schema.ts'
import { deleteWalletS3Key, lockersOwnedBy, lockLockersOf } from '../../lockers/store.ts'
import { expireSessionsOfKey } from './store.ts'

/** Ends an S3 key of a wallet, and the uploads that it began. False when the wallet has no such key. */
export async function endWalletKey(tx: Tx, wallet: string, accessKeyId: string): Promise<boolean> {
  const lockers = (await lockersOwnedBy(tx, wallet)).map(({ locker_id }) => locker_id)
  // Sessions are locked before their lockers, as everywhere. A second pass finds the sessions opened before the lockers
  // were locked.
  for (const lockerId of lockers) await expireSessionsOfKey(tx, lockerId, accessKeyId)
  // A write in progress by this key holds the lock of its locker, so it finishes before the key ends.
  const locked = await lockLockersOf(tx, wallet)
  const isEnded = await deleteWalletS3Key(tx, wallet, accessKeyId)
  for (const lockerId of locked) await expireSessionsOfKey(tx, lockerId, accessKeyId)
  return isEnded
}
