// Restores the transparency log: each entry that the database lacks returns to its position, so that the log continues
// from where it was. The journal has what was signed, and the published log what was published.

import { equalBytes, fromHex, toHex } from '@svc/protocol/bytes'
import { type Frontier, grow, readFrontier, rootOf } from '@svc/protocol/transparency/frontier'
import { leafHash } from '@svc/protocol/transparency/tree'
import { type Context, unixNow } from '../../../context.ts'
import type { CheckpointDocument } from '../../../continuity/documents.ts'
import { hasCheckpoint } from '../../../continuity/store.ts'
import type { Tx } from '../../../db/schema.ts'
import { findGap, publishedEntries } from '../../../publication/log/compare.ts'
import type { PublishedCheckpoint, PublishedLog } from '../../../publication/log/published.ts'
import {
  countPlaced,
  entriesBetween,
  newestCheckpoint,
  recordCheckpoint,
  restoreEntries,
} from '../../../publication/log/store.ts'
import type { Restored } from './restored.ts'

const ROWS_AT_ONCE = 1000

export async function restoreCheckpoint(tx: Tx, document: CheckpointDocument): Promise<Restored> {
  const { from, entries, checkpoint } = document
  if (await hasCheckpoint(tx, document)) return 'known'
  const placed = await countPlaced(tx)
  if (placed < from)
    return {
      problem: `checkpoint ${checkpoint.size} follows entry ${from}, and this database has ${placed} entries`,
    }
  await placeEntries(tx, from, entries)
  const forked = { problem: `checkpoint ${checkpoint.size}: ${FORKED}` }
  if ((await entriesBetween(tx, from, checkpoint.size)).join() !== entries.join()) return forked
  return (await recordCheckpoint(tx, checkpoint)).root === checkpoint.root ? 'written' : forked
}

async function placeEntries(tx: Tx, from: number, digests: readonly string[]): Promise<void> {
  const rows = digests.map((statement_digest, i) => ({ statement_digest, entry_index: from + i }))
  for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) await restoreEntries(tx, rows.slice(i, i + ROWS_AT_ONCE))
}

const FORKED = 'the database has other entries than the log: it is not a backup of the database that signed them'

/** For a database whose journal is lost as well. Returns a sentence if it cannot be restored. */
export async function restorePublished(context: Context, published: PublishedLog): Promise<string | null> {
  const { db, commit } = context.database
  const gap = await findGap(db, published)
  if (!gap) return null
  if (gap.kind === 'foreign') return 'LOG_STORE does not contain the log of this database'
  if (gap.kind === 'forked') return FORKED
  const checkpoint = (await published.newest()) as PublishedCheckpoint // exists, because there is a gap
  const { size, root, text: note } = checkpoint
  const known = await newestCheckpoint(db)
  const from = known?.size ?? 0
  const digests = await lostDigests(published, checkpoint, { size: from, root: known?.root ?? null })
  if (typeof digests === 'string') return digests
  return commit(async (tx) => {
    await placeEntries(tx, from, digests)
    if ((await entriesBetween(tx, from, size)).join() !== digests.join()) throw new Error(FORKED)
    await recordCheckpoint(tx, { size, root: toHex(root), note, signed_at: unixNow(context) })
    return null
  })
}

/** The entries published after a checkpoint of the database, after their tree was checked against both checkpoints. */
async function lostDigests(
  published: PublishedLog,
  checkpoint: PublishedCheckpoint,
  known: { size: number; root: string | null },
): Promise<string[] | string> {
  let frontier: Frontier = await readFrontier(known.size, published.coveredTile)
  if (known.root !== null && toHex(rootOf(frontier)) !== known.root) return FORKED
  const lost: string[] = []
  for await (const { digests } of publishedEntries(published, known.size, checkpoint.size)) {
    frontier = grow(
      frontier,
      digests.map((digest) => leafHash(fromHex(digest, 32) as Uint8Array)),
    ).frontier
    lost.push(...digests)
  }
  return equalBytes(rootOf(frontier), checkpoint.root) ? lost : 'the published entries do not match the checkpoint'
}
