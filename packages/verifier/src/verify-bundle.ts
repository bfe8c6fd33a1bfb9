// Verifies an evidence bundle and returns facts. The package makes no requests itself: it queries a node only through
// the given function.

import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { DEFAULT_DOMAIN_TAG } from '@svc/protocol/names'
import { createFileCheck, type FileSource, type FilesReport } from './check-files.ts'
import { createLeafCheck } from './check-leaves.ts'
import {
  envelopeBindsCommitment,
  merkleRootMatches,
  statementDigestMatches,
  wellFormedEnvelope,
} from './envelope-facts.ts'
import { BUNDLE_FACTS, type BundleFact, type BundleFacts, type Fact, notChecked } from './facts.ts'
import type { CountedFiles } from './file-list.ts'
import type { PlacedFile } from './inclusion.ts'
import { checkLog, type GivenLogs, type LogReport } from './log-facts.ts'
import { checkOnline, type OnlineCheck } from './online-facts.ts'
import { followedKeys, type GivenKeys } from './pinned-keys.ts'
import { type BundleParts, type Chunks, readBundle } from './read-bundle.ts'
import { isPartial, type RedactedReport, redactedFacts, redactedReport } from './redacted-facts.ts'
import type { Rpc } from './rpc.ts'
import { anchoredBefore, type SignatureFacts, type SigningKey, signatureFacts } from './signature-facts.ts'
import { uncheckedFields } from './unchecked.ts'
import { type JsonObject, type Refusal, RefusedBundle } from './untrusted.ts'

/** Input besides the bundle. Without it, the verifier only checks that the bundle is consistent. */
export interface Given extends GivenKeys, GivenLogs {
  /** Pinned publication keys in base58. */
  pinnedSigners?: readonly string[]
  /** 25 characters. Needed if the gateway does not use the default tag. */
  domainTag?: string
  files?: FileSource
  rpc?: Rpc
  /** Receives all files of the list in code-point order in batches, each before it is compared. */
  onFiles?(files: readonly PlacedFile[]): void
  /** Receives the leaves of a bundle without names. */
  onLeaves?(leaves: readonly string[]): void
}

export interface VerifiedBundle {
  refused: null
  facts: BundleFacts
  failed: BundleFact[]
  /** The paths of fields that no fact covers. The author of the bundle may have written anything there. */
  unchecked: string[]
  /** The key that verifies the signature. */
  key: SigningKey | null
  /** The given keys, and the keys that are trusted through given changes and those in the bundle. */
  followed: FollowedKeys
  /** The statement. Null in version 1, and if it is malformed. */
  envelope: EvidenceEnvelope | null
  receiptId: string | null
  /** The anchor in the bundle. Only the facts show which parts are verified. */
  anchor: JsonObject | null
  /**
   * The Unix time of a final block with the statement, or with a checkpoint that covers it. Null if no node proves it.
   */
  anchoredAt: number | null
  /** Null if the bundle has no log proof, or it is malformed. */
  log: LogReport | null
  /**
   * Counted from the list, regardless of the values in the bundle. Null for what a redacted bundle does not show: the
   * root if files are missing, and the bytes if sizes are missing.
   */
  counted: {
    files: number
    totalBytes: bigint | null
    merkleRoot: string | null
    blockNodes: readonly string[] | null
  }
  /** What a redacted bundle omits. Null for a full bundle. */
  redacted: RedactedReport | null
  /** Null if no files were given. */
  files: FilesReport | null
}

export type Verification = VerifiedBundle | { refused: Refusal }

/** Throws only errors from reading `bundle` or the `names` of the files. */
export async function verifyBundle(bundle: Chunks, given: Given = {}): Promise<Verification> {
  const check = given.files ? await createFileCheck(given.files) : null
  const leafCheck = given.files ? createLeafCheck(given.files) : null
  let parts: BundleParts
  try {
    parts = await readBundle(
      bundle,
      async (files) => {
        given.onFiles?.(files)
        await check?.check(files)
      },
      async (leaves) => {
        given.onLeaves?.(leaves)
        await leafCheck?.check(leaves)
      },
    )
  } catch (error) {
    if (error instanceof RefusedBundle) return { refused: { code: error.code, why: error.message } }
    throw error
  }
  const ofLeaves = leafCheck?.end() ?? null
  const checked = parts.redaction === 'no_names' ? ofLeaves : check?.end({ isPartial: isPartialList(parts) })
  const inFolder = ofLeaves?.files ?? null
  const followed = followedKeys(given, parts.signingKeys)
  const { key, revocation, ...signature } = signatureFacts(parts, followed, given.domainTag ?? DEFAULT_DOMAIN_TAG)
  const envelope = wellFormedEnvelope(parts)
  const { version, anchor } = parts
  const { rpc, pinnedSigners = [] } = given
  const online = await checkOnline(rpc, { version, anchor, envelope, pinnedSigners })
  const log = await checkLog({ ...given, log: parts.log, envelope, rpc, pinnedSigners })
  const times = [anchoredAt(online), log.anchoredAt].filter((time) => time !== null)
  const { merkle_root_matches, envelope_binds_commitment, ...more } = listFacts(parts, inFolder)
  const facts: BundleFacts = {
    merkle_root_matches,
    files_match: checked?.fact ?? notChecked(given.files ? NAMES_NEEDED : 'no files were given'),
    statement_digest_matches: statementDigestMatches(parts),
    envelope_binds_commitment,
    ...more,
    ...signature,
    key_pinned: anchoredInTime(revocation, times) ?? signature.key_pinned,
    ...online.facts,
    ...log.facts,
  }
  return {
    refused: null,
    facts,
    failed: BUNDLE_FACTS.filter((name) => facts[name]?.value === 'failed'),
    unchecked: uncheckedFields(parts, online.transaction, log),
    key,
    followed,
    envelope,
    receiptId: typeof parts.receiptId === 'string' ? parts.receiptId : null,
    anchor,
    anchoredAt: times.length > 0 ? Math.min(...times) : null,
    log: log.report,
    counted: countedIn(parts),
    redacted: parts.redaction === null ? null : redactedReport(parts, inFolder),
    files: checked?.report ?? null,
  }
}

/** A statement of a revoked key is valid if an earlier block contains it. Null if that is not proven. */
function anchoredInTime(revocation: SignatureFacts['revocation'], times: readonly number[]): Fact | null {
  if (revocation?.otherwise.value !== 'passed') return null
  const before = times.find((time) => time < revocation.since)
  return before === undefined ? null : anchoredBefore(revocation.since, before)
}

/** The time of the block that contains the statement. Null if that is not proven. */
function anchoredAt({ facts, transaction }: OnlineCheck): number | null {
  const { anchor_tx_succeeded, anchor_payload_matches, anchor_finalized } = facts
  const needed = [anchor_tx_succeeded, anchor_payload_matches, anchor_finalized]
  return needed.every(({ value }) => value === 'passed') ? (transaction?.blockTime ?? null) : null
}

const NAMES_NEEDED = 'the bundle names no files, so it can only be compared with all files of a folder'

function listFacts(parts: BundleParts, inFolder: CountedFiles | null) {
  if (parts.redaction !== null) return redactedFacts(parts, inFolder)
  return {
    merkle_root_matches: merkleRootMatches(parts, parts.files),
    envelope_binds_commitment: envelopeBindsCommitment(parts, parts.files),
  }
}

function isPartialList(parts: BundleParts): boolean {
  return parts.redaction !== null && isPartial(parts)
}

function countedIn(parts: BundleParts): VerifiedBundle['counted'] {
  if (parts.redaction === 'no_names') {
    const { count, merkleRoot, blockNodes } = parts.leaves
    return { files: count, totalBytes: null, merkleRoot, blockNodes }
  }
  const { count, totalBytes, merkleRoot, blockNodes } = parts.files
  if (isPartialList(parts)) return { files: count, totalBytes, merkleRoot: null, blockNodes: null }
  return { files: count, totalBytes, merkleRoot, blockNodes }
}
