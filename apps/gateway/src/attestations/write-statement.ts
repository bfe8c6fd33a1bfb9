import type { Transaction } from 'kysely'
import type { Context } from '../context.ts'
import type { AttestationTable, Locker, Schema, StatementTable } from '../db/schema.ts'
import { newStatement } from './new-statement.ts'
import type { Publishing } from './publishing.ts'
import { type Attested, attestationRecord } from './record.ts'
import type { Snapshot } from './snapshots/make-snapshot.ts'
import { insertSnapshot } from './snapshots/store.ts'
import { findRecord, findStatement, insertStatement, lockAttestation, updateAttestation } from './store.ts'

interface Work {
  snapshot: Snapshot
  /** The sequence of the newest statement when the work began; null when there was none. */
  replacing: number | null
  publish: boolean
}

/**
 * The next statement of a receipt. They are written one after the other, whoever writes: each follows on the one that
 * is the newest by then. One that somebody else wrote meanwhile of the same files, or of later ones, is as good (T-18).
 */
export async function writeStatement(
  tx: Transaction<Schema>,
  context: Context & Pick<Publishing, 'publisher' | 'queueEntry'>,
  { receipt_id, locker_id }: Locker,
  { snapshot, replacing, publish }: Work,
): Promise<Attested> {
  const before = await lockAttestation(tx, { receipt_id, locker_id })
  const isOvertaken = before.sequence !== replacing && (before.manifest_version ?? -1) >= snapshot.manifestVersion
  if (isOvertaken) return { record: (await findRecord(tx, receipt_id))!, isNew: false }
  const record = newStatement(context, snapshot, {
    proofId: before.proof_id,
    sequence: before.sequence ?? 0,
    statementDigest: await digestOf(tx, before),
  })
  const { sequence, issued_at_unix } = record.envelope.body
  const statement: StatementTable = {
    receipt_id,
    sequence,
    locker_id,
    snapshot_key: snapshot.key,
    statement_digest: record.envelope.statement_digest,
    record: JSON.stringify(record),
    anchor: null,
    issued_at: issued_at_unix,
  }
  const after: AttestationTable = {
    receipt_id,
    locker_id,
    proof_id: record.proof_id,
    status: 'computed',
    sequence,
    manifest_version: snapshot.manifestVersion,
    attested_at: issued_at_unix,
    status_since: issued_at_unix,
    anchor_error: null,
  }
  await insertSnapshot(tx, snapshot.row)
  await insertStatement(tx, statement)
  await updateAttestation(tx, after)
  if (!context.publisher) await context.queueEntry?.(tx, statement, 0)
  if (publish && context.publisher) await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  return { record: attestationRecord(statement, after), isNew: true }
}

async function digestOf(tx: Transaction<Schema>, { receipt_id, sequence }: AttestationTable): Promise<string | null> {
  const newest = sequence === null ? null : await findStatement(tx, receipt_id, sequence)
  return newest?.statement_digest ?? null
}
