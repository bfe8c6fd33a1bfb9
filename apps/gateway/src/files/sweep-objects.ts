// Removes objects that nothing holds. What a client uploaded directly is looked for first: it may never have been read or
// confirmed (T-50). In a locker that is restricted, what has arrived waits.

import { type Context, unixNow } from '../context.ts'
import type { ObjectTable } from '../db/schema.ts'
import { FIRST_CHECK_SECONDS } from '../lockers/quota.ts'
import { adoptUpload, giveUpUpload } from './direct-uploads.ts'
import {
  findDirectUpload,
  findUnheldObjects,
  findUploadsToLookFor,
  lookLater,
  markForRemoval,
  postponeRemoval,
} from './object-store.ts'
import { removeForGood } from './objects.ts'
import { findLockerOf } from './store.ts'

/** Time for readers that began before the file was replaced. */
const RELEASED_KEPT_SECONDS = 15 * 60
/** The longest life of a short URL, and as long again for the transfer. */
const WRITING_KEPT_SECONDS = 48 * 3600
const SWEEP_AT_ONCE = 500

/** Returns how many objects it removed. */
export async function sweepObjects(context: Context): Promise<number> {
  const { db } = context.database
  const now = unixNow(context)
  await takeUnread(context)
  const before = { released: now - RELEASED_KEPT_SECONDS, writing: now - WRITING_KEPT_SECONDS }
  let swept = 0
  for (;;) {
    const objects = await findUnheldObjects(db, before, SWEEP_AT_ONCE)
    const sweptBefore = swept
    for (const object of objects) if (await sweepObject(context, object)) swept++
    if (objects.length < SWEEP_AT_ONCE || swept === sweptBefore) return swept
  }
}

/**
 * Takes direct uploads that nobody reads or confirms: they count from then on, and what the locker has no room for is
 * removed (T-56). One that has not arrived is looked for again after as long as it has been awaited.
 */
async function takeUnread(context: Context): Promise<void> {
  const { db, commit } = context.database
  const now = unixNow(context)
  for (const { since, ...upload } of await findUploadsToLookFor(db, now, SWEEP_AT_ONCE)) {
    await commit((tx) => lookLater(tx, upload.object_id, now + Math.max(now - since, FIRST_CHECK_SECONDS)))
    const locker = await findLockerOf(db, upload)
    try {
      if (locker) await adoptUpload(context, locker, upload)
    } catch (error) {
      context.log.warn({ object_id: upload.object_id, err: error }, 'a direct upload could not be looked for yet')
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
    if (outcome === 'absent') return giveUpUpload(context, locker, upload)
    return outcome === 'refused' || outcome === 'revoked'
  } catch (error) {
    context.log.warn({ object_id: object.object_id, err: error }, 'a direct upload could not be looked for yet')
    await commit((tx) => postponeRemoval(tx, object, unixNow(context)))
    return false
  }
}

async function removeUnheld(context: Context, object: ObjectTable): Promise<boolean> {
  const { object_id, provider, provider_ref } = object
  if (!(await context.database.commit((tx) => markForRemoval(tx, object, unixNow(context))))) return false
  return removeForGood(context, provider, object_id, provider_ref)
}
