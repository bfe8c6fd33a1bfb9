import type { NextAnchor } from '@svc/api/usage'
import { isoSeconds } from '@svc/protocol/evidence'
import type { Context } from '../../context.ts'
import { findPlace, newestLogAnchor } from './store.ts'

/** When the log brings a statement on chain; null where it has, and where checkpoints are not anchored. */
export async function nextLogAnchor(
  { config, database: { db }, primaryChain }: Pick<Context, 'config' | 'database'> & { primaryChain: object | null },
  statement: { receipt_id: string; sequence: number },
): Promise<NextAnchor | null> {
  const { logSeconds } = config.anchors
  if (!primaryChain || logSeconds === 0) return null
  const last = await newestLogAnchor(db)
  const place = await findPlace(db, statement)
  if (last && place !== null && place < last.size)
    return last.state === 'sent' ? { reason: 'publishing', at: null } : null
  return { reason: 'log', at: last && isoSeconds(last.sent_at + logSeconds) }
}
