// What a statement says of a snapshot: the fields of version 1 as they always were, and the envelope beside them.

import { manifestSignature } from '@svc/protocol/attestation'
import { bare, toHex } from '@svc/protocol/bytes'
import { type CheckMode, type EvidenceEnvelope, issueStatement } from '@svc/protocol/evidence'
import { MERKLE_VERSION } from '@svc/protocol/names'
import { type Context, unixNow } from '../context.ts'
import type { StatementRecord } from './record.ts'
import type { Snapshot } from './snapshots/make-snapshot.ts'

export interface Predecessor {
  /** Null when this is the first. */
  proofId: string | null
  /** 0 before the first. */
  sequence: number
  statementDigest: string | null
}

export type NewStatement = StatementRecord & { envelope: EvidenceEnvelope; evidence_seq: number; proof_id: string }

type Issuer = Pick<Context, 'signers' | 'config' | 'now' | 'randomBytes'>

export function newStatement(issuer: Issuer, snapshot: Snapshot, predecessor: Predecessor): NewStatement {
  const { signers, config, randomBytes } = issuer
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
      issuedAtUnix: unixNow(issuer),
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
