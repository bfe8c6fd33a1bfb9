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
   * Whether it is one of the given keys, or one that they lead to by endorsements. A key from the bundle proves only that
   * the bundle agrees with itself.
   */
  pinned: boolean
  /** The ids of the keys that led to it, the given one first; empty where it was given itself. */
  endorsed_by: string[]
}

export interface SignatureFacts {
  signature_valid: Fact
  key_pinned: Fact
  key: SigningKey | null
  /** Of the key that signed: since when, in Unix seconds, and what `key_pinned` would be without it. */
  revocation: { since: number; otherwise: Fact } | null
}

/** A signature, and what is needed to check it. */
interface Signed {
  use: KeyUse
  isSignedBy(key: Ed25519Verifier): boolean
  /** Keys that the bundle itself names. */
  ownKeys: string[]
  /** When it was signed, according to the bundle. */
  at: number | null
  /** Whether that time is part of what was signed. */
  isDated: boolean
  /** How the key contradicts what the bundle says about it; null when it does not. */
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
  if (signer === null) return unsigned('the signature is of none of the keys', keys)
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

const NOTHING_PINNED = notChecked('no key was pinned: the signature shows only that the bundle agrees with itself')

function unsigned(why: string, pinned: readonly PinnedKey[]): SignatureFacts {
  const key_pinned = pinned.length === 0 ? NOTHING_PINNED : failed('nothing is signed by a pinned key')
  return { signature_valid: failed(why), key_pinned, key: null, revocation: null }
}

type TimeAndUse = Pick<Signed, 'use' | 'at' | 'isDated'>

/** Whether the key that signed is trusted for that use, and was in use at that time. */
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
    const endorsement = refusal === undefined ? '' : `, and its endorsement is refused: ${refusal}`
    return failed(`the key that signed is not among the pinned keys${endorsement}`)
  }
  const { at } = signed
  return failed(at === null ? 'the key has a period, and there is no time' : `the key was not in use ${isoSeconds(at)}`)
}

/** Somebody with a retired key can put any time beside a signature that does not cover it (T-40). */
const UNDATED = notChecked('the key is retired, and version 1 does not sign its time: this may have been signed later')

function hasEnded(signer: string, usable: readonly PinnedKey[]): boolean {
  return usable.every(({ publicKeyHex, validTo }) => publicKeyHex !== signer || validTo !== null)
}

function revokedSince(since: number): string {
  return `the key was revoked as of ${isoSeconds(since)}: only an anchor on chain from before then shows that this was not made by a thief`
}

/** What a thief signs can carry any date, but nobody can put it into a block of the past (ADD-39). */
export function anchoredBefore(since: number, blockTime: number): Fact {
  return {
    value: 'passed',
    why: `the key was revoked as of ${isoSeconds(since)}, and the statement was on chain before: ${isoSeconds(blockTime)}`,
  }
}

function isAmong(keys: readonly PinnedKey[], hex: string): boolean {
  return keys.some(({ publicKeyHex }) => publicKeyHex === hex)
}

/** How to check the signature, or why there is none to check. */
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
      if (issuer_pubkey !== null && issuer_pubkey !== keyHex) return 'another key signed than issuer_pubkey'
      return body.issuer_key_id === issuerKeyId(keyHex) ? null : 'another key signed than issuer_key_id names'
    },
  }
}

function signedRoot({ commitment, v1Signature, signingKeys }: BundleParts): Signed | string {
  const { manifest_signature, signed_message } = v1Signature ?? {}
  const root = typeof commitment.merkle_root === 'string' ? bare(commitment.merkle_root) : ''
  if (typeof manifest_signature !== 'string') return 'there is no manifest_signature'
  if (isUnsigned(manifest_signature)) return 'the record says that it is unsigned'
  return {
    use: 'attestation',
    isSignedBy: (key) => isManifestSignedBy(key, root, manifest_signature),
    ownKeys: listedKeys(signingKeys),
    at: unixSeconds(commitment.attested_at),
    isDated: false,
    contradicts: () => (signed_message === root ? null : 'signed_message is not the Merkle root'),
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
    return key !== null && holds(() => isSignedBy(key))
  }
  return [...new Set(candidates)].find(isSigner) ?? null
}

/** A value without canonical form throws, and is signed by nobody. */
export function holds(check: () => boolean): boolean {
  try {
    return check()
  } catch {
    return false
  }
}
