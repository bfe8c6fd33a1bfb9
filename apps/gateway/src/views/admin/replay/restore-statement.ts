// Restores statements with their lists of files.

import { type Context, unixNow } from '../../../context.ts'
import type { ChunksDocument, StatementDocument } from '../../../continuity/documents.ts'
import { openChunkList } from '../../../db/chunk-list.ts'
import type { StatementTable, Tx } from '../../../db/schema.ts'
import { publishesEach } from '../../../evidence/attest.ts'
import { insertSnapshot, storeChunks, storedChunks } from '../../../evidence/snapshots/store.ts'
import { PUSH_AGAIN_SECONDS } from '../../../evidence/statements.ts'
import {
  findAttestation,
  findStatement,
  insertStatement,
  lockAttestation,
  updateAttestation,
} from '../../../evidence/store.ts'
import { findLockerOfReceipt } from '../../../lockers/store.ts'
import { queueEntry } from '../../../publication/evm-registry/entries.ts'
import type { Restored } from './restored.ts'

export async function restoreChunks(tx: Tx, { chunks }: ChunksDocument): Promise<Restored> {
  const ids = chunks.map(({ chunk_id }) => chunk_id)
  if ((await storedChunks(tx, ids)).size === ids.length) return 'known'
  await storeChunks(tx, chunks)
  return 'written'
}

/** Restores a statement only with its complete list of files, and after its predecessor. */
export async function restoreStatement(context: Context, tx: Tx, document: StatementDocument): Promise<Restored> {
  const { key: digest, proofId, statement, snapshot } = document
  const { receipt_id, locker_id, sequence, issued_at } = statement
  const named = `statement ${sequence} of ${proofId}`
  const locker = await findLockerOfReceipt(tx, receipt_id)
  if (!locker) return { problem: `${named} is about ${locker_id}, which is not in this database` }
  const known = await findStatement(tx, receipt_id, sequence)
  if (known)
    return known.statement_digest === digest
      ? 'known'
      : { problem: `${named} is another statement in this database: the chain is forked` }
  if (!(await hasPredecessor(tx, statement)))
    return { problem: `${named} follows statement ${sequence - 1}, which is not in this database` }
  const chunk_list = Buffer.from(snapshot.chunk_list, 'base64')
  const lost = await countLostChunks(tx, chunk_list)
  if (lost > 0) return { problem: `${named} has an incomplete list of files: ${lost} chunks are missing` }
  const before = await lockAttestation(tx, { receipt_id, locker_id })
  await insertSnapshot(tx, { ...snapshot, chunk_list, block_nodes: Buffer.from(snapshot.block_nodes, 'base64') })
  await insertStatement(tx, statement)
  if (sequence <= (before.sequence ?? 0)) return 'written'
  const publish = context.primaryChain !== null && publishesEach(context, locker)
  const now = unixNow(context)
  await updateAttestation(tx, {
    ...before,
    proof_id: proofId,
    sequence,
    status: 'computed',
    status_since: now,
    attested_at: issued_at,
    // The files of this database may be older, so the next statement is made from what it has.
    manifest_version: null,
    anchor_error: null,
    deferral: null,
    push_at: publish ? now + PUSH_AGAIN_SECONDS : null,
  })
  if (!context.primaryChain) await queueEntry(tx, context, statement, 0)
  else if (publish) await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  return 'written'
}

/** After an accepted loss, statements follow the gap. */
async function hasPredecessor(tx: Tx, { receipt_id, sequence }: StatementTable): Promise<boolean> {
  const before = sequence - 1
  if (before <= ((await findAttestation(tx, receipt_id))?.lost_sequence ?? 0)) return true
  return (await findStatement(tx, receipt_id, before)) !== null
}

const IDS_AT_ONCE = 500

async function countLostChunks(tx: Tx, chunkList: Uint8Array): Promise<number> {
  const list = openChunkList(chunkList)
  const ids = [...new Set(Array.from({ length: list.length }, (_, i) => list.id(i)))]
  let lost = 0
  for (let i = 0; i < ids.length; i += IDS_AT_ONCE) {
    const page = ids.slice(i, i + IDS_AT_ONCE)
    lost += page.length - (await storedChunks(tx, page)).size
  }
  return lost
}
