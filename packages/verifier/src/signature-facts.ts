import { isManifestSignedBy, isUnsigned } from '@svc/protocol/attestation'
import { bare } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import { type EvidenceEnvelope, isoSeconds, isStatementSignedBy, unixSeconds } from '@svc/protocol/evidence'
import type { FollowedKeys } from '@svc/protocol/follow-keys'
import { issuerKeyId } from '@svc/protocol/ids'
import { type Ed25519Verifier, ed25519PublicKeyFromHex, isTrustedKey } from '@svc/protocol/keys'
import { DOMAIN_TAG_BYTES, domainTagBytes } from '@svc/protocol/names'
import { type Fact, failed, notChecked, PASSED } from './facts.ts'
import type { KeyUse, PinnedKey } from './pinned-keys.ts'
import type { BundleParts } from './read-bundle.ts'
import { isObject, type JsonObject } from './untrusted.ts'

export interface SigningKey {
  public_key_hex: string
  key_id: string
  /**
   * Whether it is one of the given keys, or is endorsed by one. A key from the bundle proves only that the bundle is
   * consistent.
   */
  pinned: boolean
  /** The ids of the keys that led to it, beginning with the given key. Empty if it was given itself. */
  endorsed_by: string[]
}

export interface SignatureFacts {
  signature_valid: Fact
  key_pinned: Fact
  key: SigningKey | null
  /** The revocation of the signing key in Unix seconds, and the value that `key_pinned` would have without it. */
  revocation: { since: number; otherwise: Fact } | null
}

/** A signature, and everything needed to verify it. */
interface Signed {
  use: KeyUse
  isSignedBy(key: Ed25519Verifier): boolean
  /** The keys that the bundle itself names. */
  ownKeys: string[]
  /** The signing time according to the bundle. */
  at: number | null
  /** Whether that time is signed. */
  isDated: boolean
  /** How the key contradicts the bundle, or null. */
  contradicts(keyHex: string): string | null
}

export function signatureFacts(parts: BundleParts, followed: FollowedKeys, domainTag: string): SignatureFacts {
  if (parts.envelope) return statementSignature(parts.envelope, followed, domainTag)
  return factsOf(signedRoot(parts), followed)
}

export function statementSignature(envelope: JsonObject, followed: FollowedKeys, domainTag: string): SignatureFacts {
  return factsOf(signedStatement(envelope, domainTag), followed)
}

function factsOf(signed: Signed | string, followed: FollowedKeys): SignatureFacts {
  const { keys } = followed
  if (typeof signed === 'string') return unsigned(signed, keys)
  const usable = keys.filter(({ use }) => use === null || use === signed.use)
  const signer = findSigner(usable.map(({ publicKeyHex }) => publicKeyHex).concat(signed.ownKeys), signed)
  if (signer === null) return unsigned('none of the keys made the signature', keys)
  const contradiction = signed.contradicts(signer)
  const since = followed.revoked.get(signer)
  return {
    signature_valid: contradiction === null ? PASSED : failed(contradiction),
    key_pinned: keys.length === 0 ? NOTHING_PINNED : keyPinned(signer, followed, signed),
    revocation: since === undefined ? null : { since, otherwise: keyTrusted(signer, followed, signed) },
    key: {
      public_key_hex: signer,
      key_id: issuerKeyId(signer),
      pinned: isAmong(usable, signer),
      endorsed_by: endorsersOf(signer, followed),
    },
  }
}

function endorsersOf(signer: string, { paths }: FollowedKeys): string[] {
  return (paths.get(signer) ?? []).map(({ body }) => body.endorser.key_id)
}

const NOTHING_PINNED = notChecked('no key was pinned: the signature only shows that the bundle is consistent')

function unsigned(why: string, pinned: readonly PinnedKey[]): SignatureFacts {
  const key_pinned = pinned.length === 0 ? NOTHING_PINNED : failed('there is no valid signature by a pinned key')
  return { signature_valid: failed(why), key_pinned, key: null, revocation: null }
}

type TimeAndUse = Pick<Signed, 'use' | 'at' | 'isDated'>

/** Whether the signing key is trusted for this use, and was valid at that time. */
export function keyPinned(signer: string, followed: FollowedKeys, signed: TimeAndUse): Fact {
  const since = followed.revoked.get(signer)
  return since === undefined ? keyTrusted(signer, followed, signed) : failed(revokedSince(since))
}

function keyTrusted(signer: string, followed: FollowedKeys, signed: TimeAndUse): Fact {
  const { keys, refused } = followed
  const usable = keys.filter(({ use }) => use === null || use === signed.use)
  if (isTrustedKey(signer, keys, signed)) {
    if (!signed.isDated && hasEnded(signer, usable)) return UNDATED
    const endorsers = endorsersOf(signer, followed)
    return endorsers.length === 0
      ? PASSED
      : { value: 'passed', why: `not pinned itself, but endorsed: ${[...endorsers, issuerKeyId(signer)].join(' → ')}` }
  }
  if (!isAmong(usable, signer)) {
    const refusal = refused.get(signer)
    const endorsement = refusal === undefined ? '' : `, and its endorsement was refused: ${refusal}`
    return failed(`the key that signed is not among the pinned keys${endorsement}`)
  }
  const { at } = signed
  return failed(
    at === null ? 'the key has a period, but the signature has no time' : `the key was not in use at ${isoSeconds(at)}`,
  )
}

/** The holder of a retired key can claim any time that the signature does not cover (T-40). */
const UNDATED = notChecked(
  'the key is retired, and version 1 does not sign its time: the signature may have been made later',
)

function hasEnded(signer: string, usable: readonly PinnedKey[]): boolean {
  return usable.every(({ publicKeyHex, validTo }) => publicKeyHex !== signer || validTo !== null)
}

function revokedSince(since: number): string {
  return `the key was revoked as of ${isoSeconds(since)}: only an earlier anchor on chain shows that the signature was not made by a thief`
}

/** A thief can sign with any date, but cannot insert a statement into an earlier block (ADD-39). */
export function anchoredBefore(since: number, blockTime: number): Fact {
  return {
    value: 'passed',
    why: `the key was revoked as of ${isoSeconds(since)}, and the statement was on chain before that: ${isoSeconds(blockTime)}`,
  }
}

function isAmong(keys: readonly PinnedKey[], hex: string): boolean {
  return keys.some(({ publicKeyHex }) => publicKeyHex === hex)
}

/** How to verify the signature, or why there is none. */
function signedStatement(envelope: JsonObject, domainTag: string): Signed | string {
  const { body, sig_alg, signature, issuer_pubkey = null } = envelope
  if (!domainTagBytes(domainTag)) return `the domain tag is not ${DOMAIN_TAG_BYTES} printable ASCII characters`
  if (sig_alg !== 'ed25519') return 'the statement is not signed by Ed25519'
  if (typeof signature !== 'string') return 'the statement has no signature'
  if (!isObject(body)) return 'the envelope has no body'
  if (issuer_pubkey !== null && typeof issuer_pubkey !== 'string') return 'issuer_pubkey is not a key'
  return {
    use: 'evidence-envelope',
    isSignedBy: (key) => isStatementSignedBy(key, envelope as unknown as EvidenceEnvelope, domainTag),
    ownKeys: issuer_pubkey === null ? [] : [issuer_pubkey],
    at: unixSeconds(body.issued_at),
    isDated: true,
    contradicts(keyHex) {
      if (issuer_pubkey !== null && issuer_pubkey !== keyHex) return 'the signing key is not issuer_pubkey'
      return body.issuer_key_id === issuerKeyId(keyHex)
        ? null
        : 'the signing key is not the one that issuer_key_id names'
    },
  }
}

function signedRoot({ commitment, v1Signature, signingKeys }: BundleParts): Signed | string {
  const { manifest_signature, signed_message } = v1Signature ?? {}
  const root = typeof commitment.merkle_root === 'string' ? commitment.merkle_root : ''
  if (typeof manifest_signature !== 'string') return 'there is no manifest_signature'
  if (isUnsigned(manifest_signature)) return 'the record is marked as unsigned'
  return {
    use: 'attestation',
    isSignedBy: (key) => isManifestSignedBy(key, root, manifest_signature),
    ownKeys: listedKeys(signingKeys),
    at: unixSeconds(commitment.attested_at),
    isDated: false,
    contradicts: () => (signed_message === bare(root) ? null : 'signed_message is not the Merkle root'),
  }
}

/** Limits the work that a bundle can cause with its own keys. */
const MAX_OWN_KEYS = 64

function listedKeys(signingKeys: Json): string[] {
  const keys = isObject(signingKeys) && Array.isArray(signingKeys.keys) ? (signingKeys.keys as readonly Json[]) : []
  const hexes = keys.flatMap((entry) =>
    isObject(entry) && typeof entry.public_key_hex === 'string' ? [entry.public_key_hex] : [],
  )
  return [...new Set(hexes)].slice(0, MAX_OWN_KEYS)
}

function findSigner(candidates: readonly string[], { isSignedBy }: Signed): string | null {
  const isSigner = (hex: string) => {
    const key = ed25519PublicKeyFromHex(hex)
    return key !== null && isValid(() => isSignedBy(key))
  }
  return [...new Set(candidates)].find(isSigner) ?? null
}

/** Runs a signature check. A value without a canonical form makes it throw, and cannot have been signed. */
export function isValid(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
