// What a locker may have delivered to a provider that removes nothing and is paid by the byte (T-43). The terms bound the
// bytes of all deliveries together, those of overwritten and deleted files included.

import type { Terms } from '@svc/api/purchases'
import { type Context, unixNow } from '../../context.ts'
import type { Locker, SettlingObjectTable } from '../../db/schema.ts'
import { findLockerOf } from '../store.ts'
import { addDeliveredBytes, insertContent, replaceNotes } from './store.ts'

/** A delivery costs something however small it is. */
const MIN_BYTES = 1024

/** `same_bytes`: another object of the locker is being delivered that has the same bytes. */
export type Obstacle = 'same_bytes' | 'over_terms'

/**
 * Stores the first notes of a delivery and counts its bytes, together. Null when the delivery may begin; throws when it
 * was called off, or another run has begun.
 */
export async function claimDelivery(
  { database, now }: Pick<Context, 'database' | 'now'>,
  row: SettlingObjectTable,
  notes: string,
): Promise<Obstacle | null> {
  const { object_id, locker_id } = row
  const bytes = Math.max(row.size_bytes, MIN_BYTES)
  const locker = await findLockerOf(database.db, { locker_id })
  if (!locker) throw new Error(`there is no locker ${locker_id}`)
  let obstacle: Obstacle | null = null
  try {
    await database.db.transaction().execute(async (tx) => {
      if (!(await replaceNotes(tx, object_id, null, notes, unixNow({ now })))) {
        throw new Error(`object ${object_id} was called off, or another run continues with it`)
      }
      if (!(await insertContent(tx, row))) obstacle = 'same_bytes'
      else if (!(await addDeliveredBytes(tx, locker_id, bytes, deliveryLimit(locker)))) obstacle = 'over_terms'
      if (obstacle) throw new NotClaimed()
    })
  } catch (error) {
    if (!(error instanceof NotClaimed)) throw error
  }
  return obstacle
}

/** Takes the notes back. */
class NotClaimed extends Error {}

/** Lockers that were sold before the terms said so may have as much delivered as they may hold. */
function deliveryLimit({ terms }: Locker): number {
  const { settled_limit_bytes, storage_limit_bytes } = JSON.parse(terms) as Terms
  return settled_limit_bytes ?? storage_limit_bytes
}
