// Looks after what was sent: finds out about transactions whose sender was cut off, and sees anchors become final.

import { unixNow } from '../context.ts'
import type { PublicationTable } from '../db/schema.ts'
import { fates, type Lost } from './fate.ts'
import type { PublicationNodes } from './publication-nodes.ts'
import { recordFinalized, recordLost } from './record-fate.ts'
import type { AnchorsContext } from './room.ts'
import { lost, settle } from './settle.ts'
import { findAnchor, pageOfPublications } from './store.ts'

/** Nodes answer for so many signatures at a time. */
const AT_ONCE = 256
/** After its sender has stopped to wait; then it was cut off, or has given up. */
const GRACE_SECONDS = 5

export async function watchPublications(context: AnchorsContext): Promise<void> {
  const { publisher, config } = context
  if (!publisher) return
  const { nodes } = publisher
  const abandonedBefore = unixNow(context) - config.anchors.waitSeconds - GRACE_SECONDS
  await settleSent(context, nodes, abandonedBefore)
  await watchLanded(context, nodes)
}

async function settleSent(context: AnchorsContext, nodes: PublicationNodes, sentBefore: number): Promise<void> {
  const sent = await pageOfPublications(context.database.db, 'sent', { sentBefore, limit: AT_ONCE })
  const found = await fates(nodes, sent)
  // The same transactions again: they may have been noted and never sent.
  await Promise.all(sent.map(({ raw }, i) => found[i]?.is === 'unknown' && nodes.send(raw)))
  for (const [i, publication] of sent.entries()) {
    const fate = found[i]
    if (fate) await settle(context, nodes, publication, fate)
  }
}

async function watchLanded(context: AnchorsContext, nodes: PublicationNodes): Promise<void> {
  const { db } = context.database
  const landed = await pageOfPublications(db, 'landed', { sentBefore: unixNow(context), limit: AT_ONCE })
  const found = await fates(nodes, landed)
  for (const [i, publication] of landed.entries()) {
    const fate = found[i]
    if (fate?.is === 'landed' && fate.commitment === 'finalized') await finalize(context, publication)
    else if (fate?.is === 'expired' || fate?.is === 'failed') await publishAgain(context, publication, fate)
  }
}

/** A block that was confirmed is hardly ever lost. When it is, its statement is not published, though it is to be. */
async function publishAgain(context: AnchorsContext, publication: PublicationTable, fate: Lost): Promise<void> {
  const { receipt_id } = publication
  await recordLost(context, publication, lost(publication, fate))
  const { database, queue } = context
  await database.db.transaction().execute((tx) => queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id }))
}

async function finalize(context: AnchorsContext, publication: PublicationTable): Promise<void> {
  const anchor = await findAnchor(context.database.db, publication)
  if (anchor) await recordFinalized(context, publication, anchor)
}
