// What a locker may have delivered to a provider that removes nothing and is paid by the byte (T-34). The terms bound the
// bytes of all deliveries together, those of overwritten and deleted files included. Of a locker that is restricted
// nothing is delivered: what such a provider has can be taken down nowhere (T-165).

import type { Terms } from '@svc/api/purchases'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Locker, SettlingObjectTable, Tx } from '../../db/schema.ts'
import { findLocker, lockLocker } from '../../lockers/store.ts'
import { addDeliveredBytes, insertContent, replaceNotes } from './store.ts'

/** A delivery costs something however small it is. */
const MIN_BYTES = 1024

/** `same_bytes`: another object of the locker is being delivered that has the same bytes. */
export type Obstacle = 'same_bytes' | 'over_terms' | 'restricted'

/**
 * Stores the notes of a delivery, with its first ones also what it counts for. Null when it may go on; throws when it was
 * called off, or another run goes on with it.
 */
export async function noteDelivery(
  { database, now }: Pick<Context, 'database' | 'now'>,
  row: SettlingObjectTable,
  known: string | null,
  notes: string,
): Promise<Obstacle | null> {
  const { object_id, locker_id } = row
  let obstacle: Obstacle | null = null
  try {
    await database.commit(async (tx) => {
      if (!(await replaceNotes(tx, object_id, known, notes, unixNow({ now })))) {
        throw new Error(`object ${object_id} was called off, or another run continues with it`)
      }
      const locker = await lockLocker(tx, locker_id)
      if (locker.restriction !== null) obstacle = 'restricted'
      else if (known === null) obstacle = await claim(tx, locker, row)
      if (obstacle) throw new NotNoted()
    })
  } catch (error) {
    if (!(error instanceof NotNoted)) throw error
  }
  return obstacle
}

/** Takes the notes back. */
class NotNoted extends Error {}

async function claim(tx: Tx, locker: Locker, row: SettlingObjectTable): Promise<Obstacle | null> {
  if (!(await insertContent(tx, row))) return 'same_bytes'
  return (await addDeliveredBytes(tx, locker.locker_id, countedBytes(row), deliveryLimit(locker))) ? null : 'over_terms'
}

/** Whether the terms have no room for it now: a provider may compute for minutes before the first notes decide it. */
export async function isOverTerms(db: Db, row: SettlingObjectTable): Promise<boolean> {
  const locker = await findLocker(db, row.locker_id)
  return locker !== null && locker.delivered_bytes > deliveryLimit(locker) - countedBytes(row)
}

function countedBytes({ size_bytes }: SettlingObjectTable): number {
  return Math.max(size_bytes, MIN_BYTES)
}

/** Lockers that were sold before the terms said so may have as much delivered as they may hold. */
function deliveryLimit({ terms }: Locker): number {
  const { settled_limit_bytes, storage_limit_bytes } = JSON.parse(terms) as Terms
  return settled_limit_bytes ?? storage_limit_bytes
}
