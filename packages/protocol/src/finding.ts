// Findings of the agent service about a locker: signed log entries, each with the digest of the previous one.

import { sha256Hex } from '#crypto'
import { asciiBytes, concat, fromHex, toHex } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import type { Ed25519Signer, Ed25519Verifier } from './keys.ts'
import { FINDING_TAG } from './names.ts'

export interface Finding {
  delegation_id: string
  locker_id: string
  /** 1 for the first entry of a delegation. */
  sequence: number
  /** ISO 8601 in whole seconds. */
  at: string
  kind: string
  severity: 'info' | 'alert'
  detail: { readonly [field: string]: Json }
  /** The digest of the previous entry; null for the first. */
  previous_digest: string | null
}

export interface SignedFinding extends Finding {
  digest: string
  signature: string
  signer_pubkey: string
}

/** SHA-256 of the canonical entry, as 64 hex characters. */
export function findingDigest(finding: Finding): string {
  const { delegation_id, locker_id, sequence, at, kind, severity, detail, previous_digest } = finding
  const entry = { delegation_id, locker_id, sequence, at, kind, severity, detail, previous_digest }
  return sha256Hex(canonicalBytes(entry))
}

/** The tag separates findings from receipts and statements. */
function findingMessage(digest: string): Uint8Array {
  return concat(asciiBytes(`${FINDING_TAG}\0`), fromHex(digest, 32) as Uint8Array)
}

export function signFinding(finding: Finding, signer: Ed25519Signer): SignedFinding {
  const digest = findingDigest(finding)
  return {
    ...finding,
    digest,
    signature: toHex(signer.sign(findingMessage(digest))),
    signer_pubkey: toHex(signer.publicKey),
  }
}

/** Whether the digest is correct and the key signed it. */
export function isFindingSignedBy(key: Ed25519Verifier, finding: SignedFinding): boolean {
  const signature = fromHex(finding.signature, 64)
  const digest = findingDigest(finding)
  return signature !== null && digest === finding.digest && key.verify(findingMessage(digest), signature)
}

/** Whether the entries form a chain without gaps in the given order. */
export function isFindingChain(findings: readonly SignedFinding[]): boolean {
  return findings.every((finding, i) => {
    const before = findings[i - 1]
    if (!before) return (finding.sequence === 1) === (finding.previous_digest === null)
    return finding.sequence === before.sequence + 1 && finding.previous_digest === before.digest
  })
}
