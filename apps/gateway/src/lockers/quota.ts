// The quota of a locker, which covers its files and bytes and is enforced with ENFORCE_TERMS. Bytes are
// - stored: in files, confirmed or not,
// - pending: announced by clients that upload directly to a provider; they count with the stored bytes (T-56),
// - in parts: received in unfinished uploads (T-56),
// - in the trash: released by overwriting, deleting or ending an upload, but not removed yet, so that current readers
//   can finish (T-56).
// Bytes in parts or in the trash are not in files: each kind may reach the size that was bought.

import { inJsonRows } from '@svc/database/prepared'
import { ServiceError } from '@svc/service/service-error'
import { sql } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { Db, Locker, Tx } from '../db/schema.ts'
import { isEnded, type LockerTotals, termsOf, usedBytes } from './terms.ts'

export type Account = LockerTotals & Pick<Locker, 'locker_id'>

/** The amounts that a request adds. Omitted kinds are not checked. */
export interface Added {
  /** New names. */
  files?: number
  /** Bytes that files gain, less the bytes that they replace. */
  stored?: number
  pending?: number
  parts?: number
  /** Set when bytes are released: how many of them are now in the trash. The trash must not have been full before. */
  trash?: number
  /** The bytes arrived before the locker ended, or are checked again before they are in a file (T-50). */
  mayHaveEnded?: boolean
}

interface NamedBytes {
  filename: string
  /** 0 when unknown. */
  bytes: number
}

type Policy = Pick<Context, 'config' | 'now'>

/** Rejects a request before the first byte. `reserve` makes the final decision. */
export async function requireQuota(
  context: Policy & Pick<Context, 'database'>,
  locker: Account,
  { named = [], ...added }: Added & { named?: readonly NamedBytes[] },
): Promise<void> {
  if (!context.config.lockers.enforcesTerms) return
  const { db } = context.database
  const replaced = await replacedBy(db, locker, named)
  const files = (added.files ?? 0) + named.length - replaced.files
  const stored = named.reduce((sum, { bytes }) => sum + bytes, added.stored ?? 0) - replaced.bytes
  const after = { ...locker, total_bytes: locker.total_bytes + stored, file_count: locker.file_count + files }
  const refusal = await refusalOf(context, db, after, { ...added, files, stored })
  if (refusal) throw refusal
}

/**
 * Runs in a transaction that holds the lock of the locker, so that concurrent writes cannot exceed the quota. `after`
 * already includes the added files and stored bytes; other kinds are in `added`.
 */
export async function reserve(context: Policy, tx: Tx, after: Account, added: Added): Promise<void> {
  const refusal = await refusalOf(context, tx, after, added)
  if (refusal) throw refusal
}

/** Like `reserve`, for a transaction that continues after a refusal; null for none. */
export async function refusalOf(
  context: Policy,
  db: Db,
  after: Account,
  { files = 0, stored = 0, pending, parts = 0, trash, mayHaveEnded = false }: Added,
): Promise<ServiceError | null> {
  if (!context.config.lockers.enforcesTerms) return null
  const { locker_id } = after
  const { storage_limit_bytes: limit, file_limit } = termsOf(after)
  if (!mayHaveEnded && isEnded(after, unixNow(context))) return capacityExceeded('time')
  if (stored > 0 && usedBytes(after) > limit) return capacityExceeded('bytes')
  if (files > 0 && after.file_count > file_limit) return capacityExceeded('files')
  if (pending !== undefined) {
    const { bytes } = await pendingUploads(db, locker_id, unixNow(context))
    if (usedBytes(after) + bytes + pending > limit) return capacityExceeded('bytes')
  }
  if (parts > 0 && (await bytesInParts(db, locker_id)) + parts > limit) return capacityExceeded('unfinished')
  if (trash !== undefined && (await bytesInTrash(db, locker_id)) - trash > limit) return trashFull()
  return null
}

const WHY = {
  bytes: 'the storage quota of the locker is exceeded',
  files: 'the file quota of the locker is exceeded',
  time: 'this locker has expired',
  unfinished: 'the unfinished uploads of the locker have reached its storage quota',
}

/** A short URL must not reveal the receipt or the usage of a locker; callers with access can query its usage. */
function capacityExceeded(reason: keyof typeof WHY): ServiceError {
  const renew =
    'renew the locker: request a quote with extends, the receipt of the locker (svc renew); reading and deleting still work'
  const hint = reason === 'unfinished' ? `finish or cancel some of those uploads, or ${renew}` : renew
  return new ServiceError('LOCKER_CAPACITY_EXCEEDED', WHY[reason], {
    hint,
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: 'POST /v1/storage/request', reason },
  })
}

export function isCapacityExceeded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'LOCKER_CAPACITY_EXCEEDED'
}

/** The interval of the sweep. */
const RETRY_SECONDS = 300

function trashFull(): ServiceError {
  const hint = `try again in ${RETRY_SECONDS} s; replaced bytes are removed after 15 minutes`
  return new ServiceError('RATE_LIMITED', 'too many bytes of this locker were replaced recently', {
    hint,
    headers: { 'retry-after': `${RETRY_SECONDS}` },
    details: {
      layer: 'gateway',
      recovery_hint: hint,
      next_best_method: 'the same request',
      reason: 'released',
      retry_after_seconds: RETRY_SECONDS,
    },
  })
}

/** The current bytes of the named files. */
async function replacedBy(
  db: Db,
  { locker_id }: Account,
  named: readonly NamedBytes[],
): Promise<{ files: number; bytes: number }> {
  if (named.length === 0) return { files: 0, bytes: 0 }
  const names = JSON.stringify(named.map(({ filename }) => [filename]))
  const { files, bytes } = await db
    .selectFrom('files')
    .select(({ fn }) => [
      fn.countAll<number>().as('files'),
      sql<number | null>`sum(case when content_hash is null then object_bytes else size_bytes end)`.as('bytes'),
    ])
    .where('locker_id', '=', locker_id)
    .where(inJsonRows(db, 'filename', names))
    .executeTakeFirstOrThrow()
  return { files, bytes: Number(bytes ?? 0) }
}

/** After this time, a direct upload that was checked but has not arrived is no longer counted. */
const PROMISE_SECONDS = 3600

/** When a direct upload is first checked. Its URL expires after half of that time. */
export const FIRST_CHECK_SECONDS = 600

/** Pending direct uploads, and their announced bytes. */
export async function pendingUploads(
  db: Db,
  lockerId: string,
  now: number,
): Promise<{ uploads: number; bytes: number }> {
  const { uploads, bytes } = await db
    .selectFrom('direct_uploads as d')
    .innerJoin('objects as o', 'o.object_id', 'd.object_id')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('uploads'),
      fn
        .sum<number | null>('d.promised_bytes')
        .filterWhere(
          eb.or([
            eb('o.since', '>', now - PROMISE_SECONDS),
            eb('d.look_at', '<=', eb('o.since', '+', FIRST_CHECK_SECONDS)),
          ]),
        )
        .as('bytes'),
    ])
    .where('d.locker_id', '=', lockerId)
    .executeTakeFirstOrThrow()
  return { uploads, bytes: bytes ?? 0 }
}

async function bytesInParts(db: Db, lockerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('upload_sessions as s')
    .innerJoin('upload_session_files as f', 'f.session_id', 's.session_id')
    .select(({ fn, eb }) => fn.sum<number | null>(eb('f.received_bytes', '+', eb.ref('f.stray_bytes'))).as('bytes'))
    .where('s.locker_id', '=', lockerId)
    .where('s.closed_at', 'is', null)
    // Stored files are counted there.
    .where('f.state', '!=', 'stored')
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}

export async function bytesInTrash(db: Db, lockerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('objects')
    .select(({ fn }) => fn.sum<number | null>('size_bytes').as('bytes'))
    .where('locker_id', '=', lockerId)
    // A literal; otherwise SQLite would not use the index of released objects.
    .where('state', '=', sql.lit('released'))
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}
