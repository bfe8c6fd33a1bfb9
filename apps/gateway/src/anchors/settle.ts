import { setTimeout as pause } from 'node:timers/promises'
import type { Publishing } from '../attestations/publishing.ts'
import type { Context } from '../context.ts'
import type { PublicationTable } from '../db/schema.ts'
import { type Fate, fates, type Lost } from './fate.ts'
import type { PublicationNodes } from './publication-nodes.ts'
import { NotPublished } from './push-errors.ts'
import { recordLanded, recordLost, recordUnknown } from './record-fate.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1600

type Sent = Pick<PublicationTable, 'tx' | 'raw' | 'last_valid_height'>

/** Until the chain tells what became of a transaction, or so many seconds have passed. */
export async function watchTransaction(nodes: PublicationNodes, sent: Sent, waitSeconds: number): Promise<Fate> {
  const end = performance.now() + waitSeconds * 1000
  for (let ms = FIRST_PAUSE_MS; ; ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    const [fate = UNKNOWN] = await fates(nodes, [sent])
    if (fate.is !== 'unknown' || performance.now() >= end) return fate
    await pause(ms)
    // The same transaction again: a node that has it does nothing, one that lost it gets it back.
    if (ms === LONGEST_PAUSE_MS) await nodes.send(sent.raw)
  }
}

const UNKNOWN: Fate = { is: 'unknown' }

/** Writes down what became of one that was sent. Answers why its statement is not published by it; null when it is. */
export async function settle(
  parts: Pick<Context, 'database' | 'now'> & Pick<Publishing, 'queueEntry'>,
  nodes: PublicationNodes,
  sent: PublicationTable,
  fate: Fate,
): Promise<NotPublished | null> {
  if (fate.is === 'unknown') return recordUnknown(parts, sent)
  if (fate.is === 'landed') {
    const costs = await nodes.costs(sent.tx).catch(() => null)
    if (!costs) return recordUnknown(parts, sent)
    await recordLanded(parts, sent, fate, costs)
    return null
  }
  const problem = lost(sent, fate)
  // What failed on the chain was paid for all the same.
  const costs = fate.is === 'failed' ? await nodes.costs(sent.tx).catch(() => null) : null
  await recordLost(parts, sent, problem, costs?.feeLamports)
  return problem
}

export function lost({ tx }: Pick<PublicationTable, 'tx'>, fate: Lost): NotPublished {
  return fate.is === 'failed'
    ? new NotPublished('transaction_failed', fate.error, { tx })
    : new NotPublished('transaction_expired', 'the chain did not take it while it was valid', { tx })
}
