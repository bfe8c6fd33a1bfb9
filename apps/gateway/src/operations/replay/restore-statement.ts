// Puts statements back, with the lists of files that they are about, and the transactions that publish them.

import type { SolanaNodes } from '@svc/payments/solana/nodes'
import { outcomesOf } from '@svc/payments/solana/outcome'
import { insertLogAnchor } from '../../anchors/log/store.ts'
import { recordOutcome } from '../../anchors/record-outcome.ts'
import { findSent, insertPublication } from '../../anchors/store.ts'
import { insertSnapshot, storeChunks } from '../../attestations/snapshots/store.ts'
import { findStatement, insertStatement, lockAttestation, updateAttestation } from '../../attestations/store.ts'
import { type Context, unixNow } from '../../context.ts'
import type {
  ChunksDocument,
  LogAnchorDocument,
  PublicationDocument,
  StatementDocument,
} from '../../continuity/documents.ts'
import type { Tx } from '../../db/schema.ts'
import { findLockerOfReceipt } from '../../lockers/store.ts'
import type { OperationsContext } from '../room.ts'

export async function restoreChunks(tx: Tx, { chunks }: ChunksDocument): Promise<null> {
  await storeChunks(tx, chunks)
  return null
}

/** Null where it is in the database then; a sentence where it cannot be. */
export async function restoreStatement(
  context: OperationsContext,
  tx: Tx,
  document: StatementDocument,
): Promise<string | null> {
  const { key: digest, proofId, statement, snapshot } = document
  const { receipt_id, locker_id, sequence, issued_at } = statement
  const named = `statement ${sequence} of ${proofId}`
  const locker = await findLockerOfReceipt(tx, receipt_id)
  if (!locker) return `${named} is about ${locker_id}, which is not in this database`
  const before = await lockAttestation(tx, { receipt_id, locker_id })
  const known = await findStatement(tx, receipt_id, sequence)
  if (known)
    return known.statement_digest === digest ? null : `${named} has another statement in its place: the chain is forked`
  await insertSnapshot(tx, {
    ...snapshot,
    chunk_list: Buffer.from(snapshot.chunk_list, 'base64'),
    block_nodes: Buffer.from(snapshot.block_nodes, 'base64'),
  })
  await insertStatement(tx, statement)
  if (sequence <= (before.sequence ?? 0)) return null
  await updateAttestation(tx, {
    ...before,
    proof_id: proofId,
    sequence,
    status: 'computed',
    status_since: unixNow(context),
    attested_at: issued_at,
    // The files of this database may be older: the next statement says what it has.
    manifest_version: null,
    anchor_error: null,
    deferral: null,
  })
  if (context.publications && locker.anchoring === 'each')
    await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  return null
}

/** A job finds out what became of it. Until then, no other transaction of its locker is open. */
export async function restorePublication(
  context: Context,
  nodes: SolanaNodes | null,
  { publication }: PublicationDocument,
): Promise<string | null> {
  const { db, commit } = context.database
  const insert = () => commit((tx) => insertPublication(tx, { ...publication, state: 'sent' }))
  if (await insert()) return null
  const open = await findSent(db, publication.receipt_id)
  if (!open || open.tx === publication.tx) return null
  const outcome = nodes && (await outcomesOf(nodes, [open]).catch(() => null))?.[0]
  const problem = outcome && (await recordOutcome({ ...context, queueEntry: null }, nodes, open, outcome))
  if (outcome && !problem?.isAmbiguous) await insert()
  else return `the chain does not tell what became of the transaction ${open.tx}: replay again when it does`
  return null
}

export async function restoreLogAnchor(tx: Tx, { anchor }: LogAnchorDocument): Promise<null> {
  await insertLogAnchor(tx, { ...anchor, state: 'sent' })
  return null
}
