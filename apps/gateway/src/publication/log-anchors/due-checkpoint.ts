// Which checkpoint of the log is published next, and when.

import type { NextAnchor } from '@svc/api/usage'
import { isoSeconds } from '@svc/protocol/evidence'
import { type Context, unixNow } from '../../context.ts'
import type { LogCheckpointTable } from '../../db/schema.ts'
import { findCheckpoint, newestQuorum } from '../log/store.ts'
import { findPosition, newestLogAnchor, oldestCheckpointIn } from './store.ts'

type Parts = Pick<Context, 'config' | 'database' | 'now'>

/** How many intervals a checkpoint waits for a quorum of witnesses before it is published without one. */
const WAIT_FOR_QUORUM = 2

/** Null while nothing is due. `published`: the size of the newest public checkpoint. */
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

interface Waiting {
  /** The size of the newest anchor. */
  above: number
  /** When that anchor was sent, in Unix seconds; before the first anchor, the time of the first checkpoint. */
  since: number
  /** When the first checkpoint after that anchor was signed. */
  grownAt: number
}

/** What waits to be anchored; null if the complete log is anchored. */
export async function waitingSince(
  { database: { db } }: Pick<Context, 'database'>,
  published: number,
): Promise<Waiting | null> {
  const last = await newestLogAnchor(db)
  const above = last?.size ?? 0
  const first = await oldestCheckpointIn(db, { above, upTo: published })
  return first && { above, since: last?.sent_at ?? first.signed_at, grownAt: first.signed_at }
}

/** When the log will anchor a statement on chain; null if it already has, or if checkpoints are not anchored. */
export async function nextLogAnchor(
  { config, database: { db }, primaryChain }: Pick<Context, 'config' | 'database'> & { primaryChain: object | null },
  statement: { receipt_id: string; sequence: number },
): Promise<NextAnchor | null> {
  const { logSeconds } = config.anchors
  if (!primaryChain || logSeconds === 0) return null
  const last = await newestLogAnchor(db)
  const position = await findPosition(db, statement)
  if (last && position !== null && position < last.size)
    return last.state === 'sent' ? { reason: 'publishing', at: null } : null
  return { reason: 'log', at: last && isoSeconds(last.sent_at + logSeconds) }
}
