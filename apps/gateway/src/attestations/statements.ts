// Statements: what one says about a snapshot, and how it is added to the chain of its receipt.

import { manifestSignature } from '@svc/protocol/attestation'
import { bare, toHex } from '@svc/protocol/bytes'
import { type CheckMode, type EvidenceEnvelope, issueStatement } from '@svc/protocol/evidence'
import { MERKLE_VERSION } from '@svc/protocol/names'
import type { Transaction } from 'kysely'
import { type Context, unixNow } from '../context.ts'
import type { AttestationTable, Locker, Schema, StatementTable } from '../db/schema.ts'
import type { Publishing } from './publishing.ts'
import { type Attested, attestationRecord, type StatementRecord } from './record.ts'
import type { Snapshot } from './snapshots/make-snapshot.ts'
import { insertSnapshot } from './snapshots/store.ts'
import {
  findReceiptProof,
  findRecord,
  findStatement,
  insertStatement,
  lockAttestation,
  updateAttestation,
} from './store.ts'

interface Work {
  snapshot: Snapshot
  /** The sequence of the newest statement when the work began; null when there was none. */
  replacing: number | null
  /** The sequence of a statement that gets a successor even if it says the same. */
  force: number | null
  publish: boolean
}

/**
 * Adds the next statement of a receipt. The receipt's row is locked, so each statement follows on the newest one. A
 * statement that was written since the work began, about the same files or later ones, is returned instead (T-18), and
 * so is one that says the same: files that are uploaded again unchanged make no statement (FILE-32).
 */
export async function writeStatement(
  tx: Transaction<Schema>,
  context: Context & Pick<Publishing, 'publisher' | 'queueEntry'>,
  { receipt_id, locker_id }: Locker,
  { snapshot, replacing, force, publish }: Work,
): Promise<Attested> {
  const before = await lockAttestation(tx, { receipt_id, locker_id })
  const isOvertaken = before.sequence !== replacing && (before.manifest_version ?? -1) >= snapshot.manifestVersion
  if (isOvertaken) return { record: (await findRecord(tx, receipt_id))!, isNew: false }
  const newest = before.sequence === null ? null : await findStatement(tx, receipt_id, before.sequence)
  const isForced = force !== null && before.sequence === force
  if (newest && !isForced && saysTheSame(newest, snapshot, context.config.attestations.checkMode)) {
    const current = { ...before, manifest_version: Math.max(before.manifest_version ?? 0, snapshot.manifestVersion) }
    await updateAttestation(tx, current)
    return { record: attestationRecord(newest, current), isNew: false }
  }
  const record = newStatement(context, snapshot, {
    proofId: before.proof_id ?? (await findReceiptProof(tx, receipt_id)),
    sequence: before.sequence ?? 0,
    statementDigest: newest?.statement_digest ?? null,
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
    // A statement that waits to be published gives its place to this one.
    deferral: before.deferral,
  }
  await insertSnapshot(tx, snapshot.row)
  await insertStatement(tx, statement)
  await updateAttestation(tx, after)
  if (!context.publisher) await context.queueEntry?.(tx, statement, 0)
  if (publish && context.publisher) await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  return { record: attestationRecord(statement, after), isNew: true }
}

/** Compares everything that a statement says about files. A record of the oracle era is no statement. */
function saysTheSame({ record }: StatementTable, snapshot: Snapshot, checkMode: CheckMode): boolean {
  const { envelope } = JSON.parse(record) as StatementRecord
  if (!envelope) return false
  const { body } = envelope
  return (
    body.manifest_digest === snapshot.manifestDigest &&
    bare(body.merkle_root) === bare(snapshot.merkleRoot) &&
    body.file_count === snapshot.fileCount &&
    body.manifest_file_count === snapshot.manifestFileCount &&
    body.total_bytes === String(snapshot.totalBytes) &&
    body.check_mode === checkMode
  )
}

interface Predecessor {
  /** Null before the first statement of a receipt that names none. */
  proofId: string | null
  /** 0 before the first statement. */
  sequence: number
  statementDigest: string | null
}

type NewStatement = StatementRecord & { envelope: EvidenceEnvelope; evidence_seq: number; proof_id: string }

/** The fields of version 1, unchanged, with the envelope beside them. */
function newStatement(context: Context, snapshot: Snapshot, predecessor: Predecessor): NewStatement {
  const { signers, config, randomBytes } = context
  const { merkleRoot, manifestDigest, resultHash, fileCount, manifestFileCount, totalBytes } = snapshot
  const checkMode: CheckMode = config.attestations.checkMode
  const proofId = predecessor.proofId ?? toHex(randomBytes(16))
  const envelope = issueStatement(
    {
      proofId,
      sequence: predecessor.sequence + 1,
      previousDigest: predecessor.statementDigest,
      merkleRoot: bare(merkleRoot),
      fileCount,
      manifestFileCount,
      totalBytes,
      manifestDigest,
      checkMode,
      issuedAtUnix: unixNow(context),
      nonce: toHex(randomBytes(16)),
    },
    signers.statement,
    config.evidence.domainTag,
  )
  return {
    result_hash: resultHash,
    merkle_root: merkleRoot,
    manifest_signature: manifestSignature(merkleRoot, signers.statement),
    file_count: fileCount,
    total_bytes: Number(totalBytes),
    attested_at: envelope.body.issued_at,
    schema_version: MERKLE_VERSION,
    oracle_slot: null,
    oracle_tx: null,
    oracle_feed: null,
    proof_id: proofId,
    snapshot_id: envelope.body.snapshot_id,
    evidence_seq: envelope.body.sequence,
    envelope,
    check_mode: checkMode,
    manifest_file_count: manifestFileCount,
    files_skipped: Math.max(0, manifestFileCount - fileCount),
  }
}
