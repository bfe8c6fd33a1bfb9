// Schedules deliveries to slow providers. An object is queued when it is confirmed. The sweep queues it again if its
// job was lost, or if it was held back and its locker is renewed.

import type { LockerRecord } from '@svc/api/lockers'
import { bare } from '@svc/protocol/bytes'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, Tx } from '../../db/schema.ts'
import { findRenewed, findStale, insertDeliveries, sumDeliveries, touchDelivery } from './store.ts'

interface ConfirmedObject {
  id: string
  size: number
  contentHash: string
  contentType: string
}

/** Runs in the transaction that confirms the files. Does nothing for a provider that is not slow. */
export async function deliverLater(
  tx: Tx,
  context: Context,
  { locker_id, provider }: Locker,
  objects: readonly ConfirmedObject[],
): Promise<void> {
  if (objects.length === 0 || !context.providers.slow(provider)) return
  const now = unixNow(context)
  const rows = objects.map(({ id, size, contentHash, contentType }) => ({
    object_id: id,
    locker_id,
    provider,
    content_type: contentType,
    size_bytes: size,
    sha256: bare(contentHash),
    notes: null,
    since: now,
    seen_at: now,
    is_held_back: 0,
  }))
  await insertDeliveries(tx, rows)
  // No job keys: a thousand keys would take a thousand locks in one transaction, and each object is queued here only
  // once.
  for (const { object_id } of rows) await context.queue.enqueue(tx, 'settle-object', { object_id })
}

/** Longer than the longest pause between two attempts of a job. */
const STALE_SECONDS = 2 * 3600
/** A run that began just after a renewal may have read the terms before the renewal was committed. */
const RENEWAL_OVERLAP_SECONDS = 60
const SWEEP_BATCH = 500

/** Queues objects again whose job was lost or abandoned, or which a renewal may allow. Returns how many. */
export async function sweepDeliveries(context: Context): Promise<number> {
  const { db, commit } = context.database
  const now = unixNow(context)
  let queued = 0
  const unseen = await findStale(db, now - STALE_SECONDS, SWEEP_BATCH)
  const renewed = await findRenewed(db, RENEWAL_OVERLAP_SECONDS, SWEEP_BATCH)
  for (const object_id of [...unseen, ...renewed]) {
    await commit(async (tx) => {
      if (!(await touchDelivery(tx, object_id, now))) return
      if (await context.queue.enqueue(tx, 'settle-object', { object_id }, { key: object_id })) queued++
    })
  }
  return queued
}

/** The files of a locker that are not at their provider yet; null if there are none. */
export async function summarizeDeliveries(
  { database, providers }: Context,
  { locker_id, provider }: Locker,
): Promise<NonNullable<LockerRecord['settling']> | null> {
  if (!providers.slow(provider)) return null
  const onTheirWay = await sumDeliveries(database.db, locker_id, false)
  const heldBack = await sumDeliveries(database.db, locker_id, true)
  const oldest = onTheirWay.oldest ?? heldBack.oldest
  if (oldest === null) return null
  return {
    files: onTheirWay.files,
    bytes: onTheirWay.bytes ?? 0,
    oldest_since: isoSeconds(oldest),
    ...(heldBack.files > 0 && { held_back: { files: heldBack.files, bytes: heldBack.bytes ?? 0 } }),
  }
}
