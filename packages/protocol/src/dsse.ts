// Statements in the formats of third-party verifiers: an in-toto statement in a DSSE envelope, optionally in a Sigstore
// bundle. docs/predicate.md describes the predicate.

import { asciiBytes, concat, fromBase64, toBase64, utf8 } from './bytes.ts'
import { canonicalBytes, type Json } from './canonical.ts'
import type { EvidenceEnvelope } from './evidence.ts'
import type { Ed25519Verifier } from './keys.ts'
import type { FileEntry } from './merkle.ts'
import { EVIDENCE_PREDICATE_TYPE } from './names.ts'
import type { ShownFile } from './redacted-bundle.ts'

export const DSSE_MEDIA_TYPE = 'application/vnd.dsse.envelope.v1+json'
export const SIGSTORE_BUNDLE_MEDIA_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json'
export const IN_TOTO_PAYLOAD_TYPE = 'application/vnd.in-toto+json'
const IN_TOTO_STATEMENT_TYPE = 'https://in-toto.io/Statement/v1'

/** Its content hashes have no prefix. */
export interface EvidencePredicate {
  envelope: EvidenceEnvelope
  anchor: object | null
  /** All files of the statement in code-point order, or one file with its position in the tree. */
  files: readonly (FileEntry | ShownFile)[]
}

export interface DsseEnvelope {
  /** Base64. */
  payload: string
  payloadType: string
  signatures: { keyid: string; sig: string }[]
}

export interface SigstoreBundle {
  mediaType: string
  verificationMaterial: { publicKey: { hint: string } }
  dsseEnvelope: DsseEnvelope
}

/** The bytes of the in-toto statement, whose subjects are the files. The same predicate gives the same bytes. */
export function inTotoPayload(predicate: EvidencePredicate): Uint8Array {
  const subject = predicate.files.map(({ filename, content_hash }) => ({
    name: filename,
    digest: { sha256: content_hash },
  }))
  const statement = { _type: IN_TOTO_STATEMENT_TYPE, subject, predicateType: EVIDENCE_PREDICATE_TYPE, predicate }
  return canonicalBytes(statement as unknown as Json) // every field is JSON
}

/** The signed bytes (DSSE's PAE). Nothing else that the statement key signs begins with this type (T-14). */
export function preAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const type = utf8(payloadType)
  return concat(asciiBytes(`DSSEv1 ${type.length} `), type, asciiBytes(` ${payload.length} `), payload)
}

export function dsseEnvelope(payload: Uint8Array, { keyid, sig }: { keyid: string; sig: Uint8Array }): DsseEnvelope {
  return {
    payload: toBase64(payload),
    payloadType: IN_TOTO_PAYLOAD_TYPE,
    signatures: [{ keyid, sig: toBase64(sig) }],
  }
}

/** The payload if this key signed it, else null. */
export function payloadSignedBy(
  key: Ed25519Verifier,
  { payload, payloadType, signatures }: DsseEnvelope,
): Uint8Array | null {
  const bytes = fromBase64(payload)
  if (!bytes) return null
  const message = preAuthEncoding(payloadType, bytes)
  const isSigned = signatures.some(({ sig }) => {
    const signature = fromBase64(sig)
    return signature?.length === 64 && key.verify(message, signature)
  })
  return isSigned ? bytes : null
}

/** A bundle without a certificate or entries of Sigstore's log, because the verifier already has the key. */
export function sigstoreBundle(dsseEnvelope: DsseEnvelope): SigstoreBundle {
  const hint = dsseEnvelope.signatures[0]?.keyid ?? ''
  return { mediaType: SIGSTORE_BUNDLE_MEDIA_TYPE, verificationMaterial: { publicKey: { hint } }, dsseEnvelope }
}
