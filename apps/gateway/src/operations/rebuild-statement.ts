// Puts a statement that the database has lost back into it, from its evidence bundle. A bundle comes from anybody: the
// statement in it must be signed by this gateway, follow on the one before, and describe the files of the bundle.

import type { Anchor } from '@svc/api/attestations'
import { PRIMARY } from '@svc/payments/networks'
import { manifestMessage } from '@svc/protocol/attestation'
import { toHex, withPrefix } from '@svc/protocol/bytes'
import { type EvidenceEnvelope, isStatementSignedBy } from '@svc/protocol/evidence'
import { MERKLE_VERSION } from '@svc/protocol/names'
import { sortedByFilename } from '@svc/protocol/order'
import type { StatementRecord } from '../attestations/record.ts'
import { type BuiltSnapshot, createSnapshotBuilder } from '../attestations/snapshots/build-snapshot.ts'
import { createChunkCutter } from '../attestations/snapshots/cut-chunks.ts'
import { insertSnapshot, readBorderKey, storeChunks } from '../attestations/snapshots/store.ts'
import { findStatement, insertStatement, lockAttestation, updateAttestation } from '../attestations/store.ts'
import { type Context, unixNow } from '../context.ts'
import type { AnchoredStatement } from '../continuity/anchored.ts'
import type { Publications } from '../continuity/gaps.ts'
import { findLocker, findReceiptOfProof, insertLandedPublication, knownDigests } from '../continuity/store.ts'
import { gatewayKey } from './gateway-key.ts'

/** It heals a database that is behind. */
const WHILE_BEHIND = { whileBehind: true }

export interface Rebuilt {
  proof_id: string
  sequence: number
  statement_digest: string
  /** The transaction that published it, where the chain shows one. */
  anchor: string | null
}

interface Bundle {
  envelope: EvidenceEnvelope
  files: { filename: string; size_bytes: number; content_hash: string }[]
  anchor?: Anchor | null
}

interface Sources {
  /** What the chain shows and the database does not know. */
  anchors: readonly AnchoredStatement[]
  publications: Publications | null
}

/** Null where the database has it; a sentence where the bundle cannot be used. */
export async function rebuildStatement(
  context: Context,
  text: string,
  sources: Sources,
): Promise<Rebuilt | string | null> {
  const { db, commit } = context.database
  const bundle = readBundle(text)
  if (!bundle) return 'is no evidence bundle with a statement and all of its files'
  const { envelope, files } = bundle
  const { body, statement_digest: digest } = envelope
  if (!(await isSigned(context, envelope))) return 'is not signed by a key of this gateway'
  if ((await knownDigests(db, [digest])).has(digest)) return null
  const receiptId = await findReceiptOfProof(db, body.proof_id)
  const locker = receiptId === null ? null : await findLocker(db, receiptId)
  if (!locker) return `belongs to the proof ${body.proof_id}, whose locker is not in this database`
  const snapshot = await snapshotOf(context, locker.locker_id, files)
  if (!snapshot || !describes(envelope, snapshot)) return 'has a statement about other files than it lists'
  const anchor = anchorOf(bundle, sources)
  const record = await recordOf(context, envelope, snapshot)

  return commit(async (tx): Promise<Rebuilt | string> => {
    const { receipt_id, locker_id } = locker
    const before = await lockAttestation(tx, { receipt_id, locker_id })
    if (await findStatement(tx, receipt_id, body.sequence))
      return `is a second statement ${body.sequence} of the proof ${body.proof_id}: the chain is forked`
    const previous = await findStatement(tx, receipt_id, body.sequence - 1)
    if (previous && previous.statement_digest !== body.prev_statement_digest)
      return `does not follow on statement ${body.sequence - 1} of this database: the chain is forked`
    await insertSnapshot(tx, snapshot.row)
    await insertStatement(tx, {
      receipt_id,
      sequence: body.sequence,
      locker_id,
      snapshot_key: snapshot.key,
      statement_digest: digest,
      record: JSON.stringify(record),
      anchor: anchor && JSON.stringify(anchor),
      issued_at: body.issued_at_unix,
    })
    if (anchor)
      await insertLandedPublication(tx, publicationOf(context, { receipt_id, sequence: body.sequence }, anchor))
    if (body.sequence > (before.sequence ?? 0)) {
      await updateAttestation(tx, {
        ...before,
        proof_id: body.proof_id,
        sequence: body.sequence,
        status: anchor ? 'complete' : 'computed',
        status_since: unixNow(context),
        attested_at: body.issued_at_unix,
        // The files of this database may be older: the next statement says what it has.
        manifest_version: null,
        anchor_error: null,
        deferral: null,
      })
    }
    return {
      proof_id: body.proof_id,
      sequence: body.sequence,
      statement_digest: digest,
      anchor: anchor?.tx ?? null,
    }
  }, WHILE_BEHIND)
}

function readBundle(text: string): Bundle | null {
  try {
    const bundle = JSON.parse(text) as Partial<Bundle> | null
    const { envelope, files } = bundle ?? {}
    if (!envelope?.body || !Number.isSafeInteger(envelope.body.sequence) || !Array.isArray(files)) return null
    const isWhole = files.every(
      (file) =>
        typeof file?.filename === 'string' &&
        Number.isSafeInteger(file.size_bytes) &&
        /^(sha256:)?[0-9a-f]{64}$/.test(String(file.content_hash)),
    )
    return isWhole ? (bundle as Bundle) : null
  } catch {
    return null
  }
}

async function isSigned(context: Context, envelope: EvidenceEnvelope): Promise<boolean> {
  try {
    const key = await gatewayKey(context, envelope.issuer_pubkey ?? '', envelope.body.issued_at_unix)
    return !!key && isStatementSignedBy(key.verifier, envelope, context.config.evidence.domainTag)
  } catch {
    // What is no statement at all cannot be written in canonical form.
    return false
  }
}

/** Bundles do not say of which type files are; no digest depends on it. */
const UNKNOWN_TYPE = 'application/octet-stream'

async function snapshotOf({ database: { db, commit } }: Context, lockerId: string, files: Bundle['files']) {
  const cutter = createChunkCutter(await readBorderKey(db))
  const builder = createSnapshotBuilder(lockerId, (chunks) => commit((tx) => storeChunks(tx, chunks), WHILE_BEHIND))
  const listed = sortedByFilename(files).map(({ filename, size_bytes, content_hash }) => ({
    filename,
    size_bytes,
    content_hash: content_hash.startsWith('sha256:') ? content_hash : withPrefix(content_hash),
    content_type: UNKNOWN_TYPE,
  }))
  await builder.add(cutter.cut(listed))
  await builder.add(cutter.end())
  return builder.end()
}

function describes({ body }: EvidenceEnvelope, snapshot: BuiltSnapshot): boolean {
  return (
    body.merkle_root === snapshot.merkleRoot &&
    body.manifest_digest === snapshot.manifestDigest &&
    body.file_count === snapshot.fileCount &&
    body.total_bytes === String(snapshot.totalBytes)
  )
}

/** As it was written first, except for the types of the files. */
async function recordOf(
  { statementKeys }: Context,
  envelope: EvidenceEnvelope,
  snapshot: BuiltSnapshot,
): Promise<StatementRecord> {
  const { body } = envelope
  const key = await statementKeys.current()
  return {
    result_hash: snapshot.resultHash,
    merkle_root: snapshot.merkleRoot,
    manifest_signature: toHex(await key.sign(manifestMessage(snapshot.merkleRoot))),
    file_count: body.file_count,
    total_bytes: Number(body.total_bytes),
    attested_at: body.issued_at,
    schema_version: MERKLE_VERSION,
    oracle_slot: null,
    oracle_tx: null,
    oracle_feed: null,
    proof_id: body.proof_id,
    snapshot_id: body.snapshot_id,
    evidence_seq: body.sequence,
    envelope,
    check_mode: body.check_mode,
    manifest_file_count: body.manifest_file_count,
    files_skipped: Math.max(0, body.manifest_file_count - body.file_count),
  }
}

/** Only what the chain shows is an anchor. The bundle may know more about the same transaction. */
function anchorOf({ envelope, anchor }: Bundle, { anchors, publications }: Sources): Anchor | null {
  const found = anchors.find(({ digest }) => digest === envelope.statement_digest)
  if (!found || !publications) return null
  if (anchor && anchor.tx === found.tx && anchor.statement_digest === found.digest) return anchor
  return {
    type: 'chain_memo_v2',
    chain: PRIMARY.caip2,
    tx: found.tx,
    slot: null,
    block_time: null,
    signer: publications.signer,
    statement_digest: found.digest,
    snapshot_id: envelope.body.snapshot_id,
    payload: { ...found.payload },
    envelope_version: 2,
  }
}

/** It landed: the job that watches publications finds out whether it is final. */
function publicationOf(context: Context, statement: { receipt_id: string; sequence: number }, anchor: Anchor) {
  return {
    ...statement,
    tx: anchor.tx,
    draft: JSON.stringify(anchor),
    raw: '',
    last_valid_height: 0,
    state: anchor.finalized ? ('finalized' as const) : ('landed' as const),
    fee_lamports: null,
    rent_lamports: null,
    sent_at: unixNow(context),
  }
}
