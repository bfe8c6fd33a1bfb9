// Which checkpoint of the log is published next, and when.

import { type Context, unixNow } from '../../context.ts'
import type { LogCheckpointTable } from '../../db/schema.ts'
import { findCheckpoint, newestQuorum } from '../../log/store.ts'
import { newestLogAnchor, oldestCheckpointIn } from './store.ts'

type Parts = Pick<Context, 'config' | 'database' | 'now'>

/** For so many intervals a checkpoint waits for a quorum of witnesses; then it is published without. */
const WAIT_FOR_QUORUM = 2

/** Null while nothing is due. `published`: the size of the newest checkpoint that everybody can read. */
export async function dueCheckpoint(parts: Parts, published: number): Promise<LogCheckpointTable | null> {
  const { config, database } = parts
  const { logSeconds } = config.anchors
  const waiting = await waitingSince(parts, published)
  const now = unixNow(parts)
  if (logSeconds === 0 || !waiting || now < waiting.since + logSeconds) return null
  const needsQuorum = (config.transparency.policy?.quorum ?? null) !== null
  const cosigned = needsQuorum ? await newestQuorum(database.db, { above: waiting.above, upTo: published }) : null
  if (cosigned || (needsQuorum && now < waiting.since + WAIT_FOR_QUORUM * logSeconds)) return cosigned
  return findCheckpoint(database.db, published)
}

/**
 * Since when entries wait to be anchored, in Unix seconds: since the last anchor, or since the first checkpoint after it
 * if that came later. Null when all of the log is anchored.
 */
export async function waitingSince(
  { database: { db } }: Pick<Context, 'database'>,
  published: number,
): Promise<{ above: number; since: number } | null> {
  const last = await newestLogAnchor(db)
  const above = last?.size ?? 0
  const first = await oldestCheckpointIn(db, { above, upTo: published })
  return first && { above, since: last?.sent_at ?? first.signed_at }
}
