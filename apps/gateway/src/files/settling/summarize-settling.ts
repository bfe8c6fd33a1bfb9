import type { LockerRecord } from '@svc/api/lockers'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../../context.ts'
import type { Locker } from '../../db/schema.ts'
import { sumSettling } from './store.ts'

/** What of a locker is on its way; null where nothing is. */
export async function summarizeSettling(
  { database, providers }: Context,
  { locker_id, provider }: Locker,
): Promise<NonNullable<LockerRecord['settling']> | null> {
  if (!providers.slow(provider)) return null
  const { files, bytes, oldest } = await sumSettling(database.db, locker_id)
  return oldest === null ? null : { files, bytes: bytes ?? 0, oldest_since: isoSeconds(oldest) }
}
