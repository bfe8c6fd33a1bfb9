// The allowance of a locker for deliveries to a provider that never deletes and charges per byte (T-34). The terms
// limit the total of all deliveries, including overwritten and deleted files. Nothing is delivered for a restricted
// locker: such a provider cannot take content down (T-165).

import type { Terms } from '@svc/api/purchases'
import { type Context, unixNow } from '../../context.ts'
import type { Db, Locker, SettlingObjectTable, Tx } from '../../db/schema.ts'
import { findLocker, lockLocker } from '../../lockers/store.ts'
import { addDeliveredBytes, insertContent, replaceProgress } from './store.ts'

/** Every delivery has a minimum cost. */
const MIN_BYTES = 1024

/** `same_bytes`: another object of the locker with the same bytes is being delivered. */
export type Obstacle = 'same_bytes' | 'over_terms' | 'restricted'

/**
 * Records the progress of a delivery; the first record also reserves its bytes. Returns null when the delivery may
 * continue; throws when it was cancelled or another run continues it.
 */
export async function saveDeliveryProgress(
  { database, now }: Pick<Context, 'database' | 'now'>,
  row: SettlingObjectTable,
  known: string | null,
  progress: string,
): Promise<Obstacle | null> {
  const { object_id, locker_id } = row
  let obstacle: Obstacle | null = null
  try {
    await database.commit(async (tx) => {
      if (!(await replaceProgress(tx, object_id, known, progress, unixNow({ now })))) {
        throw new Error(`object ${object_id} was cancelled, or another run continues with it`)
      }
      const locker = await lockLocker(tx, locker_id)
      if (locker.restriction !== null) obstacle = 'restricted'
      else if (known === null) obstacle = await claim(tx, locker, row)
      if (obstacle) throw new ProgressRejected()
    })
  } catch (error) {
    if (!(error instanceof ProgressRejected)) throw error
  }
  return obstacle
}

/** Rolls back the record. */
class ProgressRejected extends Error {}

async function claim(tx: Tx, locker: Locker, row: SettlingObjectTable): Promise<Obstacle | null> {
  if (!(await insertContent(tx, row))) return 'same_bytes'
  return (await addDeliveredBytes(tx, locker.locker_id, countedBytes(row), deliveryLimit(locker))) ? null : 'over_terms'
}

/** Whether the terms currently exclude it. A provider may compute for minutes before its first record decides. */
export async function isOverTerms(db: Db, row: SettlingObjectTable): Promise<boolean> {
  const locker = await findLocker(db, row.locker_id)
  return locker !== null && locker.delivered_bytes > deliveryLimit(locker) - countedBytes(row)
}

function countedBytes({ size_bytes }: SettlingObjectTable): number {
  return Math.max(size_bytes, MIN_BYTES)
}

/** Lockers sold before the terms had this limit may deliver as much as they may store. */
function deliveryLimit({ terms }: Locker): number {
  const { settled_limit_bytes, storage_limit_bytes } = JSON.parse(terms) as Terms
  return settled_limit_bytes ?? storage_limit_bytes
}
