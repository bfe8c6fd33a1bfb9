// A database that was set back lacks entries of its log. The published log has them: each goes back to its place, so that
// the log goes on from where it was.

import { equalBytes, fromHex, toHex } from '@svc/protocol/bytes'
import { type Edge, grow, readEdge, rootOf } from '@svc/transparency/edge'
import { leafHash } from '@svc/transparency/tree'
import { unixNow } from '../context.ts'
import { publishedEntries } from '../log/compare.ts'
import type { PublishedCheckpoint, PublishedLog } from '../log/published.ts'
import { entriesBetween, newestCheckpoint, recordCheckpoint, restoreEntries } from '../log/store.ts'
import type { Actor } from './actors.ts'
import { appendAudit } from './audit.ts'
import type { OperationsContext } from './room.ts'

/** It heals a database that is behind. */
const WHILE_BEHIND = { whileBehind: true }

export interface RestoredLog {
  size: number
  /** How many entries were put back. */
  restored: number
}

const ROWS_AT_ONCE = 1000

export async function restoreLog(context: OperationsContext, actor: Actor, reason: string): Promise<RestoredLog> {
  const { publishedLog: published } = context
  const { db, commit } = context.database
  const checkpoint = await published.newest()
  if (!checkpoint) throw new Error('no checkpoint is published where LOG_DIR or LOG_STORE_BUCKET points')
  const { size, root, text: note } = checkpoint
  const known = await newestCheckpoint(db)
  if (known && known.size > size) throw new Error('the database has a newer checkpoint than the one that is published')
  const from = known?.size ?? 0
  const digests = await lostDigests(published, checkpoint, { size: from, root: known?.root ?? null })
  const rows = digests.map((statement_digest, i) => ({ statement_digest, entry_index: from + i }))
  return commit(async (tx) => {
    const before = (await entriesBetween(tx, from, size)).length
    for (let i = 0; i < rows.length; i += ROWS_AT_ONCE) await restoreEntries(tx, rows.slice(i, i + ROWS_AT_ONCE))
    const after = await entriesBetween(tx, from, size)
    if (after.join() !== digests.join()) throw new Error(FORKED)
    await recordCheckpoint(tx, { size, root: toHex(root), note, signed_at: unixNow(context) })
    const restored = size - from - before
    await appendAudit(context, tx, {
      actor: actor.identity,
      action: 'restore_log',
      target: 'database',
      reason,
      details: { size, root: toHex(root), restored },
    })
    return { size, restored }
  }, WHILE_BEHIND)
}

const FORKED =
  'the database has other entries than the published log: it is not a backup of the database that published them'

/** What is published from a checkpoint of the database on, after its tree was held against both checkpoints. */
async function lostDigests(
  published: PublishedLog,
  checkpoint: PublishedCheckpoint,
  known: { size: number; root: string | null },
): Promise<string[]> {
  let edge: Edge = await readEdge(known.size, published.coveredTile)
  if (known.root !== null && toHex(rootOf(edge)) !== known.root) throw new Error(FORKED)
  const lost: string[] = []
  for await (const { digests } of publishedEntries(published, known.size, checkpoint.size)) {
    edge = grow(
      edge,
      digests.map((digest) => leafHash(fromHex(digest, 32) as Uint8Array)),
    ).edge
    lost.push(...digests)
  }
  if (!equalBytes(rootOf(edge), checkpoint.root))
    throw new Error('the published entries are not those of the checkpoint')
  return lost
}
