// Redacted evidence bundles (ADD-18): a statement without the receipt, and either some files with their Merkle proofs
// or the leaves of all files without their names. docs/redacted-bundles.md describes the format.

import type { EvidenceEnvelope } from './evidence.ts'
import type { KeyChanges } from './follow-keys.ts'
import { readEndorsement, readRevocation } from './key-changes.ts'
import type { FileEntry, ProofStep } from './merkle.ts'
import { EVIDENCE_SCHEMA, MERKLE_ALGORITHM, REDACTED_BUNDLE_SCHEMA } from './names.ts'

export const REDACTIONS = ['chosen_files', 'no_names'] as const
export type Redaction = (typeof REDACTIONS)[number]

/** A row of `files`. Its content hash has no prefix. */
export interface ShownFile extends FileEntry {
  leaf_index: number
  proof: ProofStep[]
}

/** The parts of a bundle about its statement. */
interface Stated<Anchor, Absence, LogAnchor> {
  envelope: EvidenceEnvelope
  anchor: Anchor | null
  anchor_absence?: Absence | undefined
  log?: { proof: string; anchor: LogAnchor | null } | undefined
  key_changes: { [Kind in keyof KeyChanges]: readonly unknown[] }
}

const ANCHOR_FIELDS = [
  ...['type', 'chain', 'tx', 'slot', 'block_time', 'signer', 'fee_lamports', 'commitment', 'finalized'],
  ...['statement_digest', 'snapshot_id', 'payload', 'envelope_version'],
]
const ABSENCE_FIELDS = ['reason', 'publish_after', 'superseded_by']
const LOG_ANCHOR_FIELDS = ['chain', 'tx', 'slot', 'block_time', 'signer', 'payload', 'commitment', 'finalized']
const REGISTRY_FIELDS = ['program', 'credential', 'schema', 'nonce', 'attestation', 'mode', 'replaced_previous']

/**
 * Everything except the files or leaves. It copies only known fields, so that nothing that a gateway adds to its
 * bundles gets into a redacted one.
 */
export function redactedHead<
  Anchor extends { readonly sas?: unknown },
  Absence extends object,
  LogAnchor extends object,
>(
  redaction: Redaction,
  { envelope, anchor, anchor_absence, log, key_changes }: Stated<Anchor, Absence, LogAnchor>,
  domainTag: string,
) {
  const { body, statement_digest, signature, issuer_pubkey, sig_alg } = envelope
  return {
    schema: REDACTED_BUNDLE_SCHEMA,
    redaction,
    algorithms: { merkle: MERKLE_ALGORITHM, envelope: EVIDENCE_SCHEMA },
    envelope: { body, statement_digest, signature, issuer_pubkey, sig_alg },
    anchor: anchor && shownAnchor(anchor),
    ...(anchor_absence && { anchor_absence: picked(anchor_absence, ABSENCE_FIELDS) }),
    ...(log && { log: { proof: log.proof, anchor: log.anchor && picked(log.anchor, LOG_ANCHOR_FIELDS) } }),
    ...signedChanges(key_changes),
    how_to_verify: howToVerify(redaction, domainTag),
  }
}

/** The part of the signing-key list that leads from a pinned key to the key that signed. */
function signedChanges({ endorsements, revocations }: Stated<unknown, unknown, unknown>['key_changes']) {
  const signed = {
    endorsements: endorsements.map(readEndorsement).filter((change) => typeof change !== 'string'),
    revocations: revocations.map(readRevocation).filter((change) => typeof change !== 'string'),
  }
  return signed.endorsements.length + signed.revocations.length > 0 && { signing_keys: signed }
}

/** The fields of an anchor that are known not to reveal the receipt. */
export function shownAnchor<Anchor extends { readonly sas?: unknown }>(anchor: Anchor): Anchor {
  const shown = picked(anchor, ANCHOR_FIELDS)
  const { sas } = anchor
  return typeof sas === 'object' && sas !== null ? { ...shown, sas: picked(sas, REGISTRY_FIELDS) } : shown
}

/** The omitted fields must be optional. */
function picked<T extends object>(object: T, fields: readonly string[]): T {
  return Object.fromEntries(Object.entries(object).filter(([field]) => fields.includes(field))) as T
}

/** The last step of how_to_verify. */
export const PUBLISHED_STEP =
  'Where anchor is not null, fetch the transaction anchor.tx from a node that you trust, and see that it succeeded, that anchor.signer signed it, and that its memo is anchor.payload as canonical JSON; where there is a log, check log.proof (C2SP tlog-proof, whose entry is the 32 bytes of envelope.statement_digest) with keys of the log and of witnesses that you did not get from this bundle or its gateway.'

// The steps of how_to_verify: for a reader who has nothing but the bundle, one sentence each.
const FIRST_STEP: Record<Redaction, string> = {
  chosen_files:
    'For each of files, hash "{filename}:{size_bytes}:{content_hash}" with SHA-256, then go through proof: hash the hex digest so far together with the hash of the step, which is on the side that position names, and compare what remains with envelope.body.merkle_root; the number of steps must be the depth of a tree of envelope.body.file_count leaves, and bit i of leaf_index is 1 where step i is on the left.',
  no_names:
    'Count leaf_hashes and compare with envelope.body.file_count, hash pairs of them level by level with SHA-256 of their hex digits (a last one without a partner pairs with itself), and compare what remains with envelope.body.merkle_root; the leaf of a file that you have is the SHA-256 of "{filename}:{size_bytes}:{content_hash}".',
}

function howToVerify(redaction: Redaction, domainTag: string): string[] {
  return [
    FIRST_STEP[redaction],
    'Write envelope.body as canonical JSON (RFC 8785, integers only), hash it with SHA-256, and compare the result with envelope.statement_digest.',
    `Put together 58 bytes (the 25 ASCII characters ${domainTag}, a zero byte, and the 32 bytes of the digest) and verify envelope.signature over them by Ed25519 with a key that you did not get from this bundle or its gateway.`,
    'Do not treat anything else as verified: envelope.body counts all files and bytes, and this bundle shows nothing about the other files.',
    PUBLISHED_STEP,
  ]
}
