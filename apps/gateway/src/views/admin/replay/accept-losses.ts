// Accepts as lost what cannot be restored: the next statement of each proof follows the last one known to exist.

import { readJournal } from '@svc/database/journal/journal'
import type { Context } from '../../../context.ts'
import { unknownAnchors } from '../../../continuity/anchored.ts'
import type { Document, Entry } from '../../../continuity/documents.ts'
import { type NamedStatement, publishedStatement, unknownStatements } from '../../../continuity/statements.ts'
import { findReceiptOfProof, readTo } from '../../../continuity/store.ts'
import type { Tx } from '../../../db/schema.ts'
import { lockAttestation } from '../../../evidence/store.ts'
import { findLockerOfReceipt } from '../../../lockers/store.ts'

/** Returns how many proofs continue after a lost statement. */
export async function acceptLosses(context: Context): Promise<number> {
  const last = new Map<string, NamedStatement>()
  for await (const statement of lostStatements(context))
    if (statement.sequence > (last.get(statement.proofId)?.sequence ?? 0)) last.set(statement.proofId, statement)
  let accepted = 0
  for (const statement of last.values()) if (await context.database.commit((tx) => accept(tx, statement))) accepted++
  return accepted
}

async function* lostStatements({ database, continuity, primaryChain }: Context): AsyncGenerator<NamedStatement> {
  const { db } = database
  const { location } = continuity
  if (primaryChain) {
    const anchored = await unknownAnchors(db, primaryChain.nodes, primaryChain.signer).catch(() => null)
    yield* anchored?.statements ?? []
  }
  if (!location) return
  for await (const read of readJournal(location.folder, location.sealing, await readTo(db))) {
    if (!('entry' in read)) continue
    const named = namedBy((JSON.parse(read.entry) as Entry).document)
    if (named) yield* await unknownStatements(db, [named])
  }
}

/** The line of a statement may be damaged while the line of its anchor is intact. */
function namedBy(document: Document): NamedStatement | null {
  if (document.kind === 'publication') return publishedStatement(document.publication)
  if (document.kind !== 'statement') return null
  const { key: digest, proofId, statement } = document
  return { proofId, digest, sequence: statement.sequence }
}

/** False if this database has no locker of the proof: then no statement follows. */
async function accept(tx: Tx, { proofId, sequence, digest }: NamedStatement): Promise<boolean> {
  const receipt_id = await findReceiptOfProof(tx, proofId)
  const locker = receipt_id === null ? null : await findLockerOfReceipt(tx, receipt_id)
  if (!locker) return false
  await lockAttestation(tx, locker)
  await tx
    .updateTable('attestations')
    // Makes the next statement describe what the database has.
    .set({ proof_id: proofId, lost_sequence: sequence, lost_digest: digest, manifest_version: null })
    .where('receipt_id', '=', locker.receipt_id)
    .execute()
  return true
}
