// Writes statements directly into a gateway's database, about files that need no bytes in storage: for tests that are
// not about attesting, and for lockers that are too large to fill over HTTP.

import type { Anchor } from '@svc/api/attestations'
import type { Context } from '@svc/gateway/context'
import type { AttestationTable, Locker, StatementTable } from '@svc/gateway/db/schema'
import { type AttestationRecord, attestationRecord } from '@svc/gateway/evidence/record'
import type { Snapshot } from '@svc/gateway/evidence/snapshots/make-snapshot'
import { insertSnapshot } from '@svc/gateway/evidence/snapshots/store'
import { takeSnapshot } from '@svc/gateway/evidence/snapshots/take-snapshot'
import { addStatement } from '@svc/gateway/evidence/statements'
import { findAttestation, findRecord, insertStatement } from '@svc/gateway/evidence/store'
import { manifestMessage, manifestSignature } from '@svc/protocol/attestation'
import { toHex } from '@svc/protocol/bytes'
import { type CheckMode, type EvidenceEnvelope, isoSeconds } from '@svc/protocol/evidence'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { writable } from '../writable.ts'

interface SeededStatement {
  /** The gateway's database; by default its SQLite file. */
  databaseUrl?: string
  checkMode?: CheckMode
  signer?: Ed25519Signer
  anchor?: (envelope: EvidenceEnvelope) => Anchor
  status?: AttestationTable['status']
}

/** The next statement about the files of a locker. */
export async function seedStatement(
  context: Context,
  locker: Locker,
  options: SeededStatement = {},
): Promise<AttestationRecord> {
  const { config, database, statementKeys } = context
  const { signer, checkMode = 'recorded_hashes' } = options
  const given = signer && { publicKey: signer.publicKey, sign: async (message: Uint8Array) => signer.sign(message) }
  const issuer = {
    ...context,
    config: { ...config, attestations: { ...config.attestations, checkMode } },
    statementKeys: { ...statementKeys, ...(given && { current: async () => given }) },
  }
  await context.continuity.requireCurrent()
  const snapshot = await snapshotOf(context, locker, options.databaseUrl)
  const replacing = (await findAttestation(database.db, locker.receipt_id))?.sequence ?? null
  const { record } = await addStatement(issuer, locker, {
    snapshot,
    publish: false,
    isLimited: false,
    replacing,
    force: replacing,
  })
  const anchor = options.anchor?.(record.record.envelope as EvidenceEnvelope) ?? null
  await move(context, record, anchor, options.status ?? (anchor ? 'complete' : 'computed'))
  return (await findRecord(database.db, locker.receipt_id)) as AttestationRecord
}

async function move(
  { database: { db } }: Context,
  { receiptId, sequence }: AttestationRecord,
  anchor: Anchor | null,
  status: AttestationTable['status'],
): Promise<void> {
  await writable(db)
    .updateTable('statements')
    .set({ anchor: anchor && JSON.stringify(anchor) })
    .where('receipt_id', '=', receiptId)
    .where('sequence', '=', sequence)
    .execute()
  await writable(db).updateTable('attestations').set({ status }).where('receipt_id', '=', receiptId).execute()
}

interface SeededOracleRecord {
  databaseUrl?: string
  /** Null for an unsigned record, as some were. */
  signer?: Ed25519Signer | null
  anchor?: Anchor
  oracleTx?: string
  /** Unix seconds. */
  at?: number
}

/** A record of the oracle era about the files of a locker: without envelope and status. */
export async function seedOracleRecord(
  context: Context,
  locker: Locker,
  { databaseUrl, signer, anchor, oracleTx, at = 1_700_000_000 }: SeededOracleRecord = {},
): Promise<AttestationRecord> {
  const { receipt_id, locker_id } = locker
  const snapshot = await snapshotOf(context, locker, databaseUrl)
  const own = await context.signers.statement.sign(manifestMessage(snapshot.merkleRoot))
  const record = {
    result_hash: snapshot.resultHash,
    merkle_root: snapshot.merkleRoot,
    manifest_signature: signer === undefined ? toHex(own) : manifestSignature(snapshot.merkleRoot, signer),
    file_count: snapshot.fileCount,
    total_bytes: Number(snapshot.totalBytes),
    attested_at: isoSeconds(at),
    schema_version: '1.0' as const,
    oracle_slot: oracleTx ? 300_000_000 : null,
    oracle_tx: oracleTx ?? null,
    oracle_feed: oracleTx ? 'feed-1' : null,
  }
  const statement: StatementTable = {
    receipt_id,
    locker_id,
    sequence: 0,
    snapshot_key: snapshot.key,
    statement_digest: null,
    record: JSON.stringify(record),
    anchor: anchor ? JSON.stringify(anchor) : null,
    issued_at: at,
  }
  const attestation: AttestationTable = {
    receipt_id,
    locker_id,
    proof_id: null,
    status: null,
    sequence: 0,
    manifest_version: null,
    attested_at: at,
    status_since: null,
    anchor_error: null,
    deferral: null,
    push_at: null,
    whole_budget_at: null,
    lost_sequence: null,
    lost_digest: null,
  }
  await writable(context.database.db)
    .transaction()
    .execute(async (tx) => {
      await insertSnapshot(tx, snapshot.row)
      await insertStatement(tx, statement)
      await tx.insertInto('attestations').values(attestation).execute()
    })
  return attestationRecord(statement, attestation)
}

async function snapshotOf(
  { database, config }: Context,
  { locker_id }: Locker,
  databaseUrl?: string,
): Promise<Snapshot> {
  const snapshot = await takeSnapshot({
    db: database.db,
    commit: database.commit,
    databaseUrl: databaseUrl ?? `sqlite:${config.dataDir}/gateway.db`,
    lockerId: locker_id,
    findAbsent: async () => new Set(),
  })
  if (!snapshot) throw new Error('this locker has no confirmed file')
  return snapshot
}
