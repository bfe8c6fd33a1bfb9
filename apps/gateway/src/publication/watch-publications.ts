// Follows sent transactions: resolves those that no push is waiting for, and records when anchors become final. Queues
// the push of what should be published and is not.

import type { SolanaNodes } from '@svc/payments/solana/nodes'
import { outcomesOf } from '@svc/payments/solana/outcome'
import { type Context, unixNow } from '../context.ts'
import type { PublicationTable } from '../db/schema.ts'
import type { NotPublished } from './errors.ts'
import { lostTransaction, recordFinalized, recordLost, recordOutcome } from './record-outcome.ts'
import { duePushes, findAnchor, notesOfSent, pageOfPublications, takeDuePush } from './store.ts'

/** Nodes answer for at most this many signatures at a time. */
const AT_ONCE = 256
/** Beyond the time that a push waits: by then it has stopped or given up. */
const GRACE_SECONDS = 5

export async function watchPublications(context: Context): Promise<void> {
  const { publisher, config } = context
  if (!publisher) return
  const { nodes } = publisher
  const abandonedBefore = unixNow(context) - config.anchors.waitSeconds - GRACE_SECONDS
  await resolveSent(context, nodes, abandonedBefore)
  await watchLanded(context, nodes)
  await queueDuePushes(context)
}

/** Jobs of the queue run beside others; this many are done long before the next run. */
const PUSHES_AT_ONCE = 100

/** Whatever became of the job that should have published them: it gave up, or a failed push left none. */
async function queueDuePushes(context: Context): Promise<void> {
  const { database, queue } = context
  const now = unixNow(context)
  for (const { receipt_id } of await duePushes(database.db, now, PUSHES_AT_ONCE)) {
    await database.commit(async (tx) => {
      if (!(await takeDuePush(tx, receipt_id, now))) return
      await queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id, maxAttempts: 1 })
    })
  }
}

async function resolveSent(context: Context, nodes: SolanaNodes, sentBefore: number): Promise<void> {
  const sent = await pageOfPublications(context.database.db, 'sent', { sentBefore, limit: AT_ONCE })
  const outcomes = await outcomesOf(nodes, sent)
  // A process may have stopped between noting and sending.
  await Promise.all(sent.map((each, i) => outcomes[i]?.outcome === 'pending' && sendAgain(context, nodes, each)))
  for (const [i, publication] of sent.entries()) {
    const found = outcomes[i]
    if (found) await recordOutcome(context, nodes, publication, found)
  }
}

async function sendAgain(
  { database, continuity }: Context,
  nodes: SolanaNodes,
  publication: PublicationTable,
): Promise<void> {
  await continuity.requireWritten(...(await notesOfSent(database.db, publication)))
  await nodes.send(publication.raw)
}

async function watchLanded(context: Context, nodes: SolanaNodes): Promise<void> {
  const { db } = context.database
  const landed = await pageOfPublications(db, 'landed', { sentBefore: unixNow(context), limit: AT_ONCE })
  const outcomes = await outcomesOf(nodes, landed)
  for (const [i, publication] of landed.entries()) {
    const found = outcomes[i]
    if (found?.outcome === 'landed' && found.commitment === 'finalized') await finalize(context, publication)
    else if (found?.outcome === 'expired' || found?.outcome === 'failed')
      await publishAgain(context, publication, lostTransaction(publication, found))
  }
}

/** For the rare case that the chain drops a confirmed block. */
async function publishAgain(context: Context, publication: PublicationTable, problem: NotPublished): Promise<void> {
  const { receipt_id } = publication
  await recordLost(context, publication, problem)
  const { database, queue } = context
  await database.commit((tx) => queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id }))
}

async function finalize(context: Context, publication: PublicationTable): Promise<void> {
  const anchor = await findAnchor(context.database.db, publication)
  if (anchor) await recordFinalized(context, publication, anchor)
}
