// Restores changes of access. A database that was set back grants access that has ended and denies access that was
// granted since. The changes are repeated in their order (T-161).

import { isoSeconds } from '@svc/protocol/evidence'
import { deleteShare, insertShare } from '../../../adapters/http/shares/store.ts'
import { type AccessChange, insertAccessChange } from '../../../continuity/access-changes.ts'
import { type AccessDocument, accessChangesSince } from '../../../continuity/documents.ts'
import type { AnnouncedKeyTable, Locker, S3KeyTable, Tx } from '../../../db/schema.ts'
import { endWalletKey } from '../../../files/parts/end-wallet-key.ts'
import { expireSessionsOfKey } from '../../../files/parts/store.ts'
import {
  allSigningKeys,
  deleteAnnouncedKey,
  insertAnnouncedKey,
  recordTheft,
  repeatHandOver,
} from '../../../keys/store.ts'
import { putOperator, removeOperatorFrom } from '../../../lockers/operators.ts'
import { deleteS3Key, findLocker, lockLocker, updateLocker } from '../../../lockers/store.ts'
import type { Restored } from './restored.ts'

/** Of two changes in the same second, the one that restricts wins. */
function inOrder(documents: readonly AccessDocument[]): AccessDocument[] {
  return documents.toSorted((a, b) => a.changedAt - b.changedAt || Number(isRestricting(a)) - Number(isRestricting(b)))
}

function isRestricting({ change }: AccessDocument): boolean {
  if (change.what === 'link') return !change.status || change.status.link_closed === 1
  if (change.what === 'restriction') return change.restriction !== null
  return !GRANTING.includes(change.what)
}

const GRANTING: readonly AccessChange['what'][] = [
  'operator_added',
  's3_key_made',
  'wallet_s3_key_made',
  'share_made',
  'key_announced',
]

export async function restoreAccess(tx: Tx, documents: readonly AccessDocument[]): Promise<Restored[]> {
  const restored: Restored[] = []
  const added: AccessDocument[] = []
  for (const document of documents) {
    const { change } = document
    if ('locker' in change && !(await findLocker(tx, change.locker))) {
      restored.push({ problem: `access to ${change.locker} changed, which is not in this database` })
      continue
    }
    const isAdded = await insertAccessChange(tx, document)
    if (isAdded) added.push(document)
    restored.push(isAdded ? 'written' : 'known')
  }
  // Later changes of another machine may have been replayed before.
  const subjects = new Set(added.map(subjectOf))
  const since = Math.min(...added.map(({ changedAt }) => changedAt))
  const known = added.length > 0 ? await accessChangesSince(tx, since) : []
  for (const document of inOrder(known.filter((each) => subjects.has(subjectOf(each))))) await repeat(tx, document)
  return restored
}

/** A locker, a wallet, or the signing keys. */
function subjectOf({ change }: AccessDocument): string | null {
  if ('wallet' in change) return change.wallet
  return 'locker' in change ? change.locker : null
}

async function repeat(tx: Tx, { change, changedAt }: AccessDocument): Promise<void> {
  if (change.what === 'rotation') return repeatHandOver(tx, change)
  if (change.what === 'key_announced') return restoreAnnouncement(tx, change.row)
  if (change.what === 'announced_key') return void (await deleteAnnouncedKey(tx, change.key))
  if (change.what === 'signing_key') return recordTheft(tx, change)
  if (change.what === 'wallet_s3_key_made') return insertS3Key(tx, change.row)
  if (change.what === 'wallet_s3_key') return void (await endWalletKey(tx, change.wallet, change.key))
  const locker = await lockLocker(tx, change.locker)
  const { locker_id } = locker
  if (change.what === 's3_key') return endS3Key(tx, locker_id, change.key)
  if (change.what === 's3_key_made') return insertS3Key(tx, change.row)
  if (change.what === 'share') return void (await deleteShare(tx, locker_id, change.seed))
  if (change.what === 'share_made') return insertShare(tx, change.row)
  if (change.what === 'link') return updateLocker(tx, locker_id, change.status ?? { link_closed: 1 })
  if (change.what === 'anchoring') return updateLocker(tx, locker_id, { anchoring: change.anchoring })
  if (change.what === 'tags') return updateLocker(tx, locker_id, { tags: JSON.stringify(change.tags) })
  if (change.what === 'restriction') {
    const { restriction, notice } = change
    const restricted_at = restriction && isoSeconds(changedAt)
    return updateLocker(tx, locker_id, { restriction, restricted_at, restriction_notice: notice })
  }
  if (change.what === 'operator_added') return void (await putOperator(tx, locker, change.operator))
  const epoch = laterEpoch(locker, change.epoch)
  if (change.what === 'urls') return updateLocker(tx, locker_id, { access_epoch: epoch, revoked_before: epoch })
  await removeOperatorFrom(tx, locker, { pubkey: change.operator, epoch })
}
/** Not if the key has signed since. */
async function restoreAnnouncement(tx: Tx, row: AnnouncedKeyTable): Promise<void> {
  const isUsed = (await allSigningKeys(tx)).some(({ public_key_hex }) => public_key_hex === row.public_key_hex)
  if (!isUsed) await insertAnnouncedKey(tx, row)
}

async function insertS3Key(tx: Tx, row: S3KeyTable): Promise<void> {
  await tx
    .insertInto('s3_keys')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Also ends the uploads that the key started. */
async function endS3Key(tx: Tx, lockerId: string, accessKeyId: string): Promise<void> {
  await deleteS3Key(tx, lockerId, accessKeyId)
  await expireSessionsOfKey(tx, lockerId, accessKeyId)
}

/** Later than every epoch that URLs were created with, here or in the lost history. */
function laterEpoch({ access_epoch }: Locker, recordedEpoch: number): number {
  return Math.max(access_epoch + 1, recordedEpoch)
}
