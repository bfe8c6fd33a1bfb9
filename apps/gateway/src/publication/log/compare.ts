// Compares the published log with the database, which may have been set back. A log that continued from an earlier
// state would fork.

import { toHex } from '@svc/protocol/bytes'
import { readEntryBundle, TILE_WIDTH } from '@svc/protocol/transparency/tiles'
import type { LogGap } from '../../continuity/anchored.ts'
import type { Db } from '../../db/schema.ts'
import { ForeignLog, type PublishedCheckpoint, type PublishedLog } from './published.ts'
import { countPlaced, entriesBetween, findCheckpoint, newestCheckpoint } from './store.ts'

/** Null if the database has everything that is published. */
export async function findGap(db: Db, published: PublishedLog): Promise<LogGap | null> {
  const checkpoint = await published.newest().catch((error) => {
    if (error instanceof ForeignLog) return 'foreign' as const
    throw error
  })
  if (checkpoint === 'foreign') return { kind: 'foreign', missing: 0 }
  if (!checkpoint) return null
  const { size, root } = checkpoint
  const recorded = await findCheckpoint(db, size)
  if (recorded) return recorded.root === toHex(root) ? null : { kind: 'forked', missing: 0 }
  const placed = await countPlaced(db)
  if (placed < size) return { kind: 'behind', missing: size - placed }
  return (await hasEntriesOf(db, published, checkpoint)) ? null : { kind: 'forked', missing: 0 }
}

/** The database either lost the checkpoint of entries that it has placed, or has other entries. */
async function hasEntriesOf(db: Db, published: PublishedLog, { size }: PublishedCheckpoint): Promise<boolean> {
  const known = (await newestCheckpoint(db, size))?.size ?? 0
  for await (const { start, digests } of publishedEntries(published, known, size)) {
    const own = await entriesBetween(db, start, start + digests.length)
    if (own.join() !== digests.join()) return false
  }
  return true
}

/** The published digests from one index to another, in pages. */
export async function* publishedEntries(
  published: PublishedLog,
  from: number,
  end: number,
): AsyncGenerator<{ start: number; digests: string[] }> {
  for (let start = from; start < end; ) {
    const index = Math.floor(start / TILE_WIDTH)
    const width = Math.min(TILE_WIDTH, end - index * TILE_WIDTH)
    const entries = readEntryBundle(await published.coveredTile({ level: 'entries', index, width }), width)
    if (!entries) throw new Error('a bundle of entries of the published log is damaged')
    const digests = entries.slice(start % TILE_WIDTH).map(toHex)
    yield { start, digests }
    start += digests.length
  }
}
