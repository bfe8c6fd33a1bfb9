// What a bundle proves by itself, without any request: each fact on its own, none folded into another.

import { isManifestSignedBy } from '@svc/protocol/attestation'
import { bare } from '@svc/protocol/bytes'
import { isStatementSignedBy, statementDigest } from '@svc/protocol/evidence'
import type { FactValue } from '@svc/protocol/facts'
import { manifestDigest, snapshotId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex } from '@svc/protocol/keys'
import { leafHash, merkleRoot } from '@svc/protocol/merkle'
import { DEFAULT_DOMAIN_TAG, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { sortedByFilename } from '@svc/protocol/order'
import type { Bundle } from './read-bundle.ts'

export interface OfflineFacts {
  merkle_root_matches: FactValue
  statement_digest_matches: FactValue
  envelope_binds_commitment: FactValue
  signature_valid: FactValue
  key_pinned: FactValue
}

export interface Trust {
  /** Public keys, 64 hex, that the verifier got from somewhere else than the bundle. */
  pinnedKeys: readonly string[]
  domainTag?: string
}

export function verifyBundle(bundle: Bundle, trust: Trust): OfflineFacts {
  const files = sortedByFilename(bundle.files)
  const signer = signingKey(bundle, trust)
  return {
    merkle_root_matches: fact(() => rootMatches(bundle, files)),
    statement_digest_matches: bundle.envelope ? fact(() => digestMatches(bundle)) : 'not_checked',
    envelope_binds_commitment: bundle.envelope ? fact(() => bindsCommitment(bundle, files)) : 'not_checked',
    signature_valid: fact(() => signer !== null),
    key_pinned: trust.pinnedKeys.length === 0 ? 'not_checked' : fact(() => trust.pinnedKeys.includes(signer ?? '')),
  }
}

/** Merkle rule 8: the number of leaves counts as much as the root. */
function rootMatches({ commitment }: Bundle, files: Bundle['files']): boolean {
  return files.length === commitment.file_count && merkleRoot(files.map(leafHash)) === bare(commitment.merkle_root)
}

function digestMatches({ envelope }: Bundle): boolean {
  return envelope !== null && statementDigest(envelope.body) === envelope.statement_digest
}

function bindsCommitment({ envelope, commitment }: Bundle, files: Bundle['files']): boolean {
  if (!envelope) return false
  const { body } = envelope
  return (
    body.schema === EVIDENCE_SCHEMA &&
    body.merkle_algorithm === MERKLE_ALGORITHM &&
    bare(body.merkle_root) === bare(commitment.merkle_root) &&
    body.file_count === files.length &&
    body.manifest_digest === manifestDigest(files) &&
    body.snapshot_id === snapshotId(body)
  )
}

/** The first key under which the signature holds: a pinned one, else the envelope's own, which proves consistency only. */
function signingKey(bundle: Bundle, trust: Trust): string | null {
  const { envelope } = bundle
  const candidates = [...trust.pinnedKeys, ...(envelope?.issuer_pubkey ? [envelope.issuer_pubkey] : [])]
  return candidates.find((hex) => isSignedUnder(hex, bundle, trust.domainTag ?? DEFAULT_DOMAIN_TAG)) ?? null
}

function isSignedUnder(
  publicKeyHex: string,
  { envelope, v1_signature, commitment }: Bundle,
  domainTag: string,
): boolean {
  const key = ed25519PublicKeyFromHex(publicKeyHex)
  if (!key) return false
  if (envelope) return fact(() => isStatementSignedBy(key, envelope, domainTag)) === 'passed'
  return v1_signature !== null && isManifestSignedBy(key, commitment.merkle_root, v1_signature.manifest_signature)
}

/** A body that cannot even be hashed, or a hostile value, fails its fact; it never breaks the verifier. */
function fact(check: () => boolean): FactValue {
  try {
    return check() ? 'passed' : 'failed'
  } catch {
    return 'failed'
  }
}
