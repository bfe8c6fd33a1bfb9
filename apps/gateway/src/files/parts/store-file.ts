// Stores one file of an upload session: its parts become one object, which the locker adopts as a file.

import { withPrefix } from '@svc/protocol/bytes'
import type { ServiceError } from '@svc/service/service-error'
import { isRestrictionError } from '../../auth/restrictions.ts'
import { type Context, unixNow } from '../../context.ts'
import type { Tx } from '../../db/schema.ts'
import { AccessEnded } from '../../lockers/access.ts'
import { requireQuota } from '../../lockers/quota.ts'
import { findCurrent } from '../direct-uploads.ts'
import { removeObject } from '../objects.ts'
import { placeObjectIn } from '../place-object.ts'
import { isChosen } from './choose-parts.ts'
import { type CompletedFile, completeFile, recordCompleted } from './complete-file.ts'
import { copyParts, type Finalizing, type JoinedFile, nullIfLost, streamOf, underLease } from './copy-parts.ts'
import { isFinalRefusal, wrongFileExists } from './errors.ts'
import { fileKey, uploadOf } from './open-parts.ts'
import { isSha256 } from './part-digest.ts'
import { findParts, type Part, releaseParts } from './part-store.ts'
import { findSessionFile, lockSession, type SessionFile, updateSessionFile } from './store.ts'

/** Whether all parts have arrived: the chosen parts, or all parts according to the declared size and the indexes. */
export function isComplete(file: SessionFile): boolean {
  const { size_bytes, received_bytes, part_count, top_index } = file
  if (isChosen(file)) return true
  const isEmpty = size_bytes === 0 && part_count === 0
  const isWithoutGaps = part_count > 0 && part_count === top_index + 1
  return (isEmpty || isWithoutGaps) && (size_bytes ?? received_bytes) === received_bytes
}

/** Attempts when parts change meanwhile. After the last one the file stays open. */
const MAX_ATTEMPTS = 3

export type StoreOutcome = 'done' | 'superseded' | 'restricted'

/**
 * Stores a complete file; an incomplete one stays open. `superseded`: another gateway has taken over the session, or
 * the session was revoked. `restricted`: the locker is restricted.
 */
export async function storeFile(
  context: Context,
  finalizing: Finalizing,
  { session_id, file_id }: SessionFile,
): Promise<StoreOutcome> {
  const { db, commit } = context.database
  const { locker } = finalizing
  for (let i = 0; i < MAX_ATTEMPTS; i++) {
    const file = await findSessionFile(db, session_id, file_id)
    if (file?.state !== 'open' || !isComplete(file)) return 'done'
    if (file.replaces !== null) await findCurrent(context, locker, file.filename)
    await requireQuota(context, locker, { named: [{ filename: file.filename, bytes: file.received_bytes }] })
    const joined = await joinParts(context, finalizing, file)
    if (!joined) return 'done'
    if (joined === 'changed') continue
    const outcome = await commit((tx) => commitFile(tx, context, finalizing, file, joined)).catch(outcomeOf)
    if (outcome === 'stored') {
      context.partHashes.forget(fileKey(file))
      return 'done'
    }
    if (!joined.isHeld) await removeObject(context, locker.provider, joined.object.id, joined.object.ref)
    if (typeof outcome === 'object' && !isNameTaken(file, outcome.refusal)) throw outcome.refusal
    if (typeof outcome === 'object') return refuse(context, finalizing, file)
    if (outcome !== 'changed') return outcome === 'refused' ? 'done' : outcome
  }
  return 'done'
}

/** Nothing was changed. A rejected file stays open: a renewal may add quota for it. */
function outcomeOf(error: unknown): 'superseded' | 'restricted' | { refusal: ServiceError } {
  if (error instanceof AccessEnded) return 'superseded'
  if (isRestrictionError(error)) return 'restricted'
  if (isFinalRefusal(error)) return { refusal: error }
  throw error
}

/** The condition belongs to the file, so a retry cannot succeed. */
function isNameTaken(file: SessionFile, { code }: ServiceError): boolean {
  return code === 'PRECONDITION_FAILED' && !isChosen(file)
}

/** Fails the file and releases its parts. */
async function refuse(context: Context, finalizing: Finalizing, file: SessionFile): Promise<StoreOutcome> {
  const { session_id, file_id } = file
  const isLeased = await underLease(context, finalizing, file, async (tx) => {
    await releaseParts(tx, { session_id, file_id }, { since: unixNow(context) })
    await updateSessionFile(tx, file, { state: 'failed', error: 'PRECONDITION_FAILED', ...NO_PARTS })
  })
  return isLeased ? 'done' : 'superseded'
}

const NO_PARTS = {
  received_bytes: 0,
  stray_bytes: 0,
  part_count: 0,
  top_index: -1,
  object_id: null,
  upload_ref: null,
  upload_state: null,
}

async function joinParts(
  context: Context,
  finalizing: Finalizing,
  file: SessionFile,
): Promise<JoinedFile | CompletedFile | 'changed' | null> {
  const upload = uploadOf(file)
  if (upload) return completeFile(context, finalizing, upload, file)
  const parts = await findParts(context.database.db, file.session_id, file.file_id)
  const [part] = parts
  return part && parts.length === 1
    ? onlyPart(context, finalizing, file, part)
    : copyParts(context, finalizing, file, parts)
}

/** The object of the only part becomes the object of the file. */
async function onlyPart(
  context: Context,
  finalizing: Finalizing,
  file: SessionFile,
  part: Part,
): Promise<JoinedFile | null> {
  const { object_id, provider_ref, size_bytes, sha256 } = part
  const readFrom = async () => streamOf(context.providers.named(finalizing.locker.provider), [part])
  const contentHash = isSha256(sha256)
    ? withPrefix(sha256)
    : await nullIfLost(context, finalizing, () => context.partHashes.ofFile(fileKey(file), [sha256], readFrom))
  if (contentHash === null) return null
  return { object: { id: object_id, ref: provider_ref, size: size_bytes }, contentHash, isHeld: true }
}

/** Changes the locker and the session in one transaction. */
async function commitFile(
  tx: Tx,
  context: Context,
  { locker, leaseId, grant }: Finalizing,
  file: SessionFile,
  joined: JoinedFile | CompletedFile,
): Promise<'stored' | 'refused' | 'changed' | 'superseded'> {
  const { session_id, file_id, expected_hash: expectedHash } = file
  const { object, contentHash, isHeld } = joined
  const session = await lockSession(tx, session_id)
  if (session?.lease_id !== leaseId) return 'superseded'
  const current = await findSessionFile(tx, session_id, file_id)
  if (current?.state !== 'open' || current.revision !== file.revision) return 'changed'
  if (expectedHash !== null && expectedHash !== contentHash) {
    await updateSessionFile(tx, file, { state: 'failed', error: 'HASH_MISMATCH', content_hash: contentHash })
    if ('completed' in joined) await recordCompleted(tx, file, joined.completed)
    return 'refused'
  }
  await updateSessionFile(tx, file, { state: 'stored', content_hash: contentHash })
  await releaseParts(tx, { session_id, file_id }, { since: unixNow(context), ...(isHeld && { except: object.id }) })
  await placeObjectIn(tx, context, locker, {
    filename: file.filename,
    object,
    grant,
    contentType: file.content_type,
    expectedHash,
    contentHash,
    metadata: file.metadata,
    mayCreate: true,
    check(before) {
      if (current.replaces !== null && (before?.object_id ?? '') !== current.replaces) throw wrongFileExists()
    },
    ...(isHeld && { isHeld }),
  })
  return 'stored'
}
