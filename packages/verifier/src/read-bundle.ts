// Bytes of an evidence bundle → its parts, or why it cannot be one. Nothing in it is trusted yet.

import { bare, isHex } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { FileEntry } from '@svc/protocol/merkle'
import { EVIDENCE_BUNDLE_SCHEMA } from '@svc/protocol/names'
import { parseStrictJson } from '@svc/protocol/strict-json'

export interface Bundle {
  bundle_version: 1 | 2
  commitment: { merkle_root: string; file_count: number }
  files: FileEntry[]
  envelope: EvidenceEnvelope | null
  v1_signature: { manifest_signature: string } | null
}

export type ReadBundle = { ok: true; bundle: Bundle } | { ok: false; problem: string }

const MAX_BUNDLE_BYTES = 512 * 1024 * 1024

export function readBundle(bytes: Uint8Array): ReadBundle {
  try {
    const bundle = parseStrictJson(bytes, MAX_BUNDLE_BYTES) as unknown as Bundle
    const problem = problemOf(bundle)
    return problem ? { ok: false, problem } : { ok: true, bundle }
  } catch (error) {
    return { ok: false, problem: `not strict JSON: ${(error as Error).message}` }
  }
}

function problemOf(bundle: Partial<Bundle & { schema: string }> | null): string | null {
  if (typeof bundle !== 'object' || bundle?.schema !== EVIDENCE_BUNDLE_SCHEMA) return `not a ${EVIDENCE_BUNDLE_SCHEMA}`
  if (bundle.bundle_version !== 1 && bundle.bundle_version !== 2) return 'bundle_version must be 1 or 2'
  const { commitment, files, envelope, v1_signature } = bundle
  if (!isObject(commitment) || typeof commitment.merkle_root !== 'string' || !isHex(bare(commitment.merkle_root), 32)) {
    return 'commitment.merkle_root is not a root'
  }
  if (!Array.isArray(files) || files.length === 0) return 'files must be a list with at least one file'
  if (bundle.bundle_version === 2 && !isObject(envelope)) return 'a version-2 bundle has an envelope'
  if (bundle.bundle_version === 2 && !isObject(envelope?.body)) return 'an envelope has a body'
  if (bundle.bundle_version === 1 && typeof v1_signature?.manifest_signature !== 'string') {
    return 'a version-1 bundle has v1_signature.manifest_signature'
  }
  return problemOfFiles(files)
}

/** Merkle rule 9 forbids the colon; two entries of one name would let a reader choose. */
function problemOfFiles(files: readonly Partial<FileEntry>[]): string | null {
  const seen = new Set<string>()
  for (const [i, file] of files.entries()) {
    const at = `files[${i}]`
    if (!isObject(file) || typeof file.filename !== 'string' || file.filename === '') return `${at} has no filename`
    if (file.filename.includes(':')) return `${at}: a filename may not contain ":"`
    if (!file.filename.isWellFormed()) return `${at}: a filename may not hold a lone surrogate`
    if (seen.has(file.filename)) return `${at}: the filename stands twice`
    if (!Number.isSafeInteger(file.size_bytes) || (file.size_bytes as number) < 0)
      return `${at}: size_bytes is not a size`
    if (typeof file.content_hash !== 'string' || !isHex(bare(file.content_hash), 32))
      return `${at}: content_hash is not a hash`
    seen.add(file.filename)
  }
  return null
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
