// Removes objects that nothing holds. Direct uploads are checked first, because they may never have been read or
// confirmed (T-50). In a restricted locker, uploads that have arrived wait.

import { type Context, unixNow } from '../context.ts'
import type { ObjectTable } from '../db/schema.ts'
import { FIRST_CHECK_SECONDS } from '../lockers/quota.ts'
import { abandonUpload, adoptUpload } from './direct-uploads.ts'
import {
  checkLater,
  findDirectUpload,
  findUnheldObjects,
  findUploadsToCheck,
  markForRemoval,
  postponeRemoval,
} from './object-store.ts'
import { removePermanently } from './objects.ts'
import { findLockerOf } from './store.ts'

/** Allows readers that began before the file was replaced to finish. */
const RELEASED_RETENTION_SECONDS = 15 * 60
/** The longest life of a short URL, doubled to allow for the transfer. */
const WRITING_TIMEOUT_SECONDS = 48 * 3600
const SWEEP_BATCH = 500

/** Returns how many objects it removed. */
export async function sweepObjects(context: Context): Promise<number> {
  const { db } = context.database
  const now = unixNow(context)
  await adoptUnread(context)
  const before = { released: now - RELEASED_RETENTION_SECONDS, writing: now - WRITING_TIMEOUT_SECONDS }
  let swept = 0
  for (;;) {
    const objects = await findUnheldObjects(db, before, SWEEP_BATCH)
    const sweptBefore = swept
    for (const object of objects) if (await sweepObject(context, object)) swept++
    if (objects.length < SWEEP_BATCH || swept === sweptBefore) return swept
  }
}

/**
 * Adopts direct uploads that nobody reads or confirms, so that they count towards the quota; removes those that exceed
 * it (T-56). An upload that has not arrived is checked again at growing intervals.
 */
async function adoptUnread(context: Context): Promise<void> {
  const { db, commit } = context.database
  const now = unixNow(context)
  for (const { since, ...upload } of await findUploadsToCheck(db, now, SWEEP_BATCH)) {
    await commit((tx) => checkLater(tx, upload.object_id, now + Math.max(now - since, FIRST_CHECK_SECONDS)))
    const locker = await findLockerOf(db, upload)
    try {
      if (locker) await adoptUpload(context, locker, upload)
    } catch (error) {
      context.log.warn({ object_id: upload.object_id, err: error }, 'cannot check for a direct upload; retrying later')
    }
  }
}

async function sweepObject(context: Context, object: ObjectTable): Promise<boolean> {
  const { db, commit } = context.database
  const upload = object.state === 'writing' ? await findDirectUpload(db, object.object_id) : null
  const locker = upload && (await findLockerOf(db, upload))
  if (!locker) return removeUnheld(context, object)
  try {
    const { outcome } = await adoptUpload(context, locker, upload)
    if (outcome === 'waiting') await commit((tx) => postponeRemoval(tx, object, unixNow(context)))
    if (outcome === 'absent') return abandonUpload(context, locker, upload)
    return outcome === 'refused' || outcome === 'revoked'
  } catch (error) {
    context.log.warn({ object_id: object.object_id, err: error }, 'cannot check for a direct upload; retrying later')
    await commit((tx) => postponeRemoval(tx, object, unixNow(context)))
    return false
  }
}

async function removeUnheld(context: Context, object: ObjectTable): Promise<boolean> {
  const { object_id, provider, provider_ref } = object
  if (!(await context.database.commit((tx) => markForRemoval(tx, object, unixNow(context))))) return false
  return removePermanently(context, provider, object_id, provider_ref)
}
