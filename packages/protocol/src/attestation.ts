// Values of the version-1 attestation record, which is stored together with the version-2 envelope.

import { sha256Hex, sha256Stream } from '#crypto'
import { asciiBytes, bare, fromHex, isHex, toHex, withPrefix } from './bytes.ts'
import { canonicalJsonV1 } from './canonical.ts'
import type { Ed25519Signer, Ed25519Verifier } from './keys.ts'
import type { FileEntry } from './merkle.ts'

/** Merkle rule 11: over files in code-point order, with content hashes without their prefix (rule 2). */
export function resultHash(lockerId: string, sortedFiles: Iterable<FileEntry>): string {
  const hash = sha256Stream()
  let separator = '{"files":['
  for (const { filename, size_bytes, content_hash } of sortedFiles) {
    hash.update(separator + canonicalJsonV1({ filename, size_bytes, content_hash: bare(content_hash) }))
    separator = ','
  }
  if (separator !== ',') hash.update(separator)
  hash.update(`],"locker_id":${canonicalJsonV1(lockerId)}}`)
  return withPrefix(hash.hex())
}

const UNSIGNED = 'unsigned:'

/**
 * Merkle rule 12: signs the 64 ASCII characters of the root without its prefix. Without a key, marks it as unsigned.
 */
export function manifestSignature(merkleRoot: string, signer: Ed25519Signer | null): string {
  if (!signer) return UNSIGNED + sha256Hex(bare(merkleRoot)).slice(0, 32)
  return toHex(signer.sign(manifestMessage(merkleRoot)))
}

/** The signed bytes of Merkle rule 12. */
export function manifestMessage(merkleRoot: string): Uint8Array {
  return asciiBytes(bare(merkleRoot))
}

export function isUnsigned(manifestSignature: string): boolean {
  return manifestSignature.startsWith(UNSIGNED)
}

/** False for every unsigned form (MERK-16). */
export function isManifestSignedBy(key: Ed25519Verifier, merkleRoot: string, signatureHex: string): boolean {
  const root = bare(merkleRoot)
  const signature = fromHex(signatureHex, 64)
  return signature !== null && isHex(root, 32) && key.verify(asciiBytes(root), signature)
}
