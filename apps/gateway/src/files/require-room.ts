import type { Context } from '../context.ts'
import type { Locker } from '../db/schema.ts'
import { requireRoomFor } from '../lockers/terms.ts'
import { countedBytes, findFiles } from './store.ts'

interface Announced {
  filename: string
  /** 0 where it is not known yet. */
  bytes: number
}

/** Refuses files that are too much for their locker before they are stored, where terms are enforced. */
export async function requireRoomForFiles(
  context: Context,
  locker: Locker,
  announced: readonly Announced[],
): Promise<void> {
  if (!context.config.lockers.enforcesTerms) return
  const filenames = announced.map(({ filename }) => filename)
  const before = await findFiles(context.database.db, locker.locker_id, filenames)
  const bytes = announced.reduce((sum, { bytes }) => sum + bytes, 0)
  const replaced = before.reduce((sum, file) => sum + countedBytes(file), 0)
  requireRoomFor(context, locker, { bytes: bytes - replaced, files: announced.length - before.length })
}
