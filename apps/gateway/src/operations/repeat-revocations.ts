// A database that was set back lets in whoever was shut out since. What was revoked is revoked again, whether or not the
// rest of what is lost can be rebuilt (T-161).

import { isoSeconds } from '@svc/protocol/evidence'
import type { NotedRevocation } from '../continuity/entries.ts'
import { recordRevocation } from '../continuity/store.ts'
import type { Locker, Tx } from '../db/schema.ts'
import { deleteAnnouncedKey, recordTheft, repeatHandOver } from '../keys/store.ts'
import { removeOperatorFrom } from '../lockers/operators.ts'
import { deleteS3Key, findLocker, lockLocker, updateLocker } from '../lockers/store.ts'
import { expireSessionsOfKey } from '../transfers/sessions/store.ts'

/** In the order in which they were made. */
export async function repeatRevocations(tx: Tx, revocations: readonly NotedRevocation[]): Promise<void> {
  for (const revocation of revocations) if (await recordRevocation(tx, revocation)) await repeat(tx, revocation)
}

async function repeat(tx: Tx, { revoked, revokedAt }: NotedRevocation): Promise<void> {
  if (revoked.what === 'rotation') return repeatHandOver(tx, revoked)
  if (revoked.what === 'announced_key') return void (await deleteAnnouncedKey(tx, revoked.key))
  if (revoked.what === 'signing_key') return recordTheft(tx, revoked)
  // A locker that was opened after the backup is lost as a whole.
  if (!(await findLocker(tx, revoked.locker))) return
  const locker = await lockLocker(tx, revoked.locker)
  const { locker_id } = locker
  if (revoked.what === 's3_key') return endS3Key(tx, locker_id, revoked.key)
  if (revoked.what === 'link') return updateLocker(tx, locker_id, { link_closed: 1 })
  if (revoked.what === 'restriction') {
    const { restriction, notice } = revoked
    const restricted_at = restriction && isoSeconds(revokedAt)
    return updateLocker(tx, locker_id, { restriction, restricted_at, restriction_notice: notice })
  }
  const epoch = laterEpoch(locker, revoked.epoch)
  if (revoked.what === 'urls') return updateLocker(tx, locker_id, { access_epoch: epoch, revoked_before: epoch })
  await removeOperatorFrom(tx, locker, { pubkey: revoked.operator, epoch })
}

/** With the uploads that were begun by it. */
async function endS3Key(tx: Tx, lockerId: string, accessKeyId: string): Promise<void> {
  await deleteS3Key(tx, lockerId, accessKeyId)
  await expireSessionsOfKey(tx, lockerId, accessKeyId)
}

/** Later than whatever was minted before, here or in the history that is lost. */
function laterEpoch({ access_epoch }: Locker, noted: number): number {
  return Math.max(access_epoch + 1, noted)
}
