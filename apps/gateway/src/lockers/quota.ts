// What a locker may hold: one account of its files and bytes, which is enforced with ENFORCE_TERMS. Bytes are
// - stored: in files, confirmed or not,
// - awaited: promised by clients that send them straight to a provider; they count with those that are stored (T-56),
// - in parts: brought by uploads that are not finished (T-56),
// - in the trash: given up by overwriting, deleting or ending an upload, and not removed yet, so that readers who began
//   before have time to finish (T-56).
// What is in parts or in the trash is in no file: each may be as much again as was bought.

import { inJsonRows } from '@svc/database/prepared'
import { ServiceError } from '@svc/service/service-error'
import { sql } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { Db, Locker, Tx } from '../db/schema.ts'
import { isEnded, type LockerRoom, termsOf, usedBytes } from './terms.ts'

export type Account = LockerRoom & Pick<Locker, 'locker_id'>

/** What a request adds to the account. A kind that is left out is not looked at. */
export interface Added {
  /** Names that are new. */
  files?: number
  /** Bytes that files get, less those that they had. */
  stored?: number
  awaited?: number
  parts?: number
  /** Given where bytes are given up: how many of them are in the trash by now. It must not have been full before. */
  trash?: number
  /** The bytes came before the locker ended, or are looked at again before they are in a file (T-50). */
  mayHaveEnded?: boolean
}

interface NamedBytes {
  filename: string
  /** 0 where it is not known yet. */
  bytes: number
}

type Policy = Pick<Context, 'config' | 'now'>

/** Refuses before the first byte. `reserve` decides again, and for good. */
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
 * In a transaction that holds the lock of the locker: of writes at the same time, none goes beyond the quota. `after`
 * counts the files and the stored bytes that were added; those of other kinds follow.
 */
export async function reserve(context: Policy, tx: Tx, after: Account, added: Added): Promise<void> {
  const refusal = await refusalOf(context, tx, after, added)
  if (refusal) throw refusal
}

/** The same for a transaction that goes on after a refusal: null where there is none. */
export async function refusalOf(
  context: Policy,
  db: Db,
  after: Account,
  { files = 0, stored = 0, awaited, parts = 0, trash, mayHaveEnded = false }: Added,
): Promise<ServiceError | null> {
  if (!context.config.lockers.enforcesTerms) return null
  const { locker_id } = after
  const { storage_limit_bytes: limit, file_limit } = termsOf(after)
  if (!mayHaveEnded && isEnded(after, unixNow(context))) return capacityExceeded('time')
  if (stored > 0 && usedBytes(after) > limit) return capacityExceeded('bytes')
  if (files > 0 && after.file_count > file_limit) return capacityExceeded('files')
  if (awaited !== undefined) {
    const { bytes } = await pendingUploads(db, locker_id, unixNow(context))
    if (usedBytes(after) + bytes + awaited > limit) return capacityExceeded('bytes')
  }
  if (parts > 0 && (await bytesInParts(db, locker_id)) + parts > limit) return capacityExceeded('unfinished')
  if (trash !== undefined && (await bytesInTrash(db, locker_id)) - trash > limit) return trashFull()
  return null
}

const WHY = {
  bytes: 'the locker has no room for this many bytes: what was bought is used up',
  files: 'the locker has no room for another file: as many as were bought are in it',
  time: 'this locker has expired',
  unfinished: 'the unfinished uploads of the locker hold as many bytes together as were bought',
}

/** A short URL must not reveal the receipt or the figures of a locker; those who may read it ask for its usage. */
function capacityExceeded(reason: keyof typeof WHY): ServiceError {
  const renew =
    'renew the locker: ask for a quote with extends, the receipt of the locker (svc renew); reading and deleting go on'
  const hint = reason === 'unfinished' ? `finish or end some of those uploads, or ${renew}` : renew
  return new ServiceError('LOCKER_CAPACITY_EXCEEDED', WHY[reason], {
    hint,
    details: { layer: 'gateway', recovery_hint: hint, next_best_method: 'POST /v1/storage/request', reason },
  })
}

export function isCapacityExceeded(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === 'LOCKER_CAPACITY_EXCEEDED'
}

/** How often the sweep runs. */
const RETRY_SECONDS = 300

function trashFull(): ServiceError {
  const hint = `send it again in ${RETRY_SECONDS} s; bytes that were replaced are removed after a quarter of an hour`
  return new ServiceError('RATE_LIMITED', 'more bytes of this locker were replaced lately than it may hold', {
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

/** What the names have now. */
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

/** So long after its address was given, a direct upload that was looked for and has not arrived is not counted any more. */
const PROMISE_SECONDS = 3600

/** A direct upload is looked for so long after it was begun. Its address is good for half of that. */
export const FIRST_CHECK_SECONDS = 600

/** Direct uploads, and the bytes that were announced for those that may still arrive. */
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
    // What is stored is in a file, and counted there.
    .where('f.state', '!=', 'stored')
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}

export async function bytesInTrash(db: Db, lockerId: string): Promise<number> {
  const { bytes } = await db
    .selectFrom('objects')
    .select(({ fn }) => fn.sum<number | null>('size_bytes').as('bytes'))
    .where('locker_id', '=', lockerId)
    // A literal, or SQLite would not use the index of released objects.
    .where('state', '=', sql.lit('released'))
    .executeTakeFirstOrThrow()
  return bytes ?? 0
}
