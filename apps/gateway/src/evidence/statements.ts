// Statements: their contents, and how one is added to the chain of its receipt.

import { manifestMessage } from '@svc/protocol/attestation'
import { bare, toHex } from '@svc/protocol/bytes'
import { type CheckMode, draftStatement, type EvidenceEnvelope, signedStatement } from '@svc/protocol/evidence'
import { MERKLE_VERSION } from '@svc/protocol/names'
import { type Context, unixNow } from '../context.ts'
import type { AttestationTable, Db, Locker, StatementTable, Tx } from '../db/schema.ts'
import { reserveStatement } from './budget.ts'
import { type AttestationRecord, type Attested, attestationRecord, type StatementRecord } from './record.ts'
import type { Snapshot } from './snapshots/make-snapshot.ts'
import { insertSnapshot } from './snapshots/store.ts'
import {
  findAttestation,
  findReceiptProof,
  findRecord,
  findStatement,
  insertStatement,
  lockAttestation,
  updateAttestation,
} from './store.ts'

interface Work {
  snapshot: Snapshot
  /** The sequence of the newest statement when the work started; null if there was none. */
  replacing: number | null
  /** The sequence of a statement that gets a successor even if nothing has changed. */
  force: number | null
  publish: boolean
  /** Whether the statement counts against the daily limit of the locker. */
  isLimited: boolean
}

/** How long after its job was queued an unpublished statement is due again. */
export const PUSH_AGAIN_SECONDS = 3600

/**
 * Adds the next statement of a receipt. Returns an existing statement instead if one about the same or later files was
 * written since the work started (T-18), or if the newest one already has the same contents: uploading unchanged files
 * makes no statement (FILE-32). The statement is signed before the transaction, because an external key may take
 * seconds: nothing is locked meanwhile, and the signature is discarded if another statement came first (T-139).
 */
export async function addStatement(context: Context, locker: Locker, work: Work): Promise<Attested> {
  for (;;) {
    const signed = await signNext(context, locker, work)
    const attested = await context.database.commit(async (tx, recordDocuments) => {
      const written = await writeStatement(tx, context, locker, work, signed)
      if (written?.isNew) recordDocuments(...documentIdsOf(written.record))
      return written
    })
    if (attested?.isNew && signed) context.continuity.statementAdded(signed.proof_id, signed.evidence_seq)
    if (attested) return attested
  }
}

/** The statement that follows the newest one; null if none seems to be needed. */
async function signNext(context: Context, { receipt_id }: Locker, work: Work): Promise<NewStatement | null> {
  const { db } = context.database
  const before = await findAttestation(db, receipt_id)
  if (before && isSuperseded(before, work)) return null
  const { newest, predecessor } = await findPredecessor(db, receipt_id, before)
  if (newest && isRepetition(context, newest, predecessor, work)) return null
  // Another process may have written it and stopped. A replay restores a statement only after its predecessor.
  if (newest?.statement_digest)
    await context.continuity.requireWritten({ kind: 'statement', key: newest.statement_digest })
  return newStatement(context, work.snapshot, predecessor)
}

/** The predecessor of the next statement: the newest one, or a later one that the database has lost. */
async function findPredecessor(db: Db, receiptId: string, before: AttestationTable | null) {
  const sequence = before?.sequence ?? null
  const newest = sequence === null ? null : await findStatement(db, receiptId, sequence)
  const proofId = before?.proof_id ?? (await findReceiptProof(db, receiptId))
  const { lost_sequence = null, lost_digest = null } = before ?? {}
  const predecessor: Predecessor =
    lost_sequence !== null && lost_sequence > (sequence ?? 0)
      ? { proofId, sequence: lost_sequence, statementDigest: lost_digest }
      : { proofId, sequence: sequence ?? 0, statementDigest: newest?.statement_digest ?? null }
  return { newest, predecessor }
}

function isSuperseded(before: AttestationTable, { replacing, snapshot }: Work): boolean {
  return before.sequence !== replacing && (before.manifest_version ?? -1) >= snapshot.manifestVersion
}

/** A lost statement always gets a successor, because its contents are unknown. */
function isRepetition(
  { config }: Context,
  newest: StatementTable,
  { sequence }: Predecessor,
  { force, snapshot }: Work,
): boolean {
  if (newest.sequence === force || newest.sequence !== sequence) return false
  return hasSameContents(newest, snapshot, config.attestations.checkMode)
}

/** The receipt's row is locked, so each statement follows the newest one. Null if `record` does not. */
async function writeStatement(
  tx: Tx,
  context: Context,
  locker: Locker,
  work: Work,
  record: NewStatement | null,
): Promise<Attested | null> {
  const { receipt_id, locker_id } = locker
  const { snapshot, isLimited } = work
  const { anchors, evmRegistry } = context.config
  const publish = work.publish && anchors.isOn
  const before = await lockAttestation(tx, { receipt_id, locker_id })
  if (isSuperseded(before, work)) return { record: (await findRecord(tx, receipt_id))!, isNew: false }
  const { newest, predecessor } = await findPredecessor(tx, receipt_id, before)
  context.continuity.assertFollows(predecessor.proofId, predecessor.sequence)
  if (newest && isRepetition(context, newest, predecessor, work)) {
    const current = { ...before, manifest_version: Math.max(before.manifest_version ?? 0, snapshot.manifestVersion) }
    await updateAttestation(tx, current)
    return { record: attestationRecord(newest, current), isNew: false }
  }
  if (!record || !follows(record, predecessor)) return null
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
    // This statement replaces one that waits to be published.
    deferral: before.deferral,
    push_at: publish ? issued_at_unix + PUSH_AGAIN_SECONDS : null,
    whole_budget_at: isLimited ? reserveStatement(context, locker, before) : before.whole_budget_at,
    lost_sequence: before.lost_sequence,
    lost_digest: before.lost_digest,
  }
  await insertSnapshot(tx, snapshot.row)
  await insertStatement(tx, statement)
  await updateAttestation(tx, after)
  // Without an anchor on the primary chain, the EVM registry still gets every statement.
  const isForRegistry = !anchors.isOn && evmRegistry !== null
  if (publish || isForRegistry) await context.queue.enqueue(tx, 'push', { receipt_id }, { key: receipt_id })
  return { record: attestationRecord(statement, after), isNew: true }
}

function follows({ envelope }: NewStatement, { proofId, sequence, statementDigest }: Predecessor): boolean {
  const { body } = envelope
  const isOfProof = proofId === null || body.proof_id === proofId
  return isOfProof && body.sequence === sequence + 1 && body.prev_statement_digest === statementDigest
}

/** The journal's ids of a statement. Empty for a record of the oracle era, which is not a statement. */
export function documentIdsOf({ record: { envelope } }: Pick<AttestationRecord, 'record'>) {
  return envelope ? [{ kind: 'statement' as const, key: envelope.statement_digest }] : []
}

/** Compares everything that a statement states about files. */
function hasSameContents({ record }: StatementTable, snapshot: Snapshot, checkMode: CheckMode): boolean {
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
  /** Null before the first statement of a receipt that names no proof. */
  proofId: string | null
  /** 0 before the first statement. */
  sequence: number
  statementDigest: string | null
}

type NewStatement = StatementRecord & { envelope: EvidenceEnvelope; evidence_seq: number; proof_id: string }

/** The fields of version 1, unchanged, and the envelope in addition. */
async function newStatement(context: Context, snapshot: Snapshot, predecessor: Predecessor): Promise<NewStatement> {
  const { statementKeys, config, randomBytes } = context
  const key = await statementKeys.current()
  const { merkleRoot, manifestDigest, resultHash, fileCount, manifestFileCount, totalBytes } = snapshot
  const checkMode: CheckMode = config.attestations.checkMode
  const proofId = predecessor.proofId ?? toHex(randomBytes(16))
  const draft = draftStatement(
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
    toHex(key.publicKey),
    config.evidence.domainTag,
  )
  const [signature, ofManifest] = await Promise.all([key.sign(draft.message), key.sign(manifestMessage(merkleRoot))])
  const envelope = signedStatement(draft, signature)
  return {
    result_hash: resultHash,
    merkle_root: merkleRoot,
    manifest_signature: toHex(ofManifest),
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
