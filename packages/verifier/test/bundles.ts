// For tests: signed bundles with arbitrary files.

import { utf8 } from '@svc/protocol/bytes'
import { issueStatement } from '@svc/protocol/evidence'
import { type Ed25519Signer, ed25519Signer } from '@svc/protocol/keys'
import type { FileEntry } from '@svc/protocol/merkle'
import { DEFAULT_DOMAIN_TAG, EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { sortedByFilename } from '@svc/protocol/order'
import { type CountedFiles, createFileCounter } from '../src/file-list.ts'

export const SIGNER: Ed25519Signer = ed25519Signer(new Uint8Array(32).fill(7))

/** A signed bundle of these files in the given order. */
export function bundleOf(files: readonly FileEntry[]) {
  const counter = createFileCounter()
  counter.add(sortedByFilename(files))
  return { ...signedBundle(counter.end()!), files }
}

/** A bundle without its file list. */
export function signedBundle({ count, totalBytes, merkleRoot, manifestDigest }: CountedFiles) {
  const envelope = issueStatement(
    {
      proofId: '0a'.repeat(16),
      sequence: 1,
      previousDigest: null,
      merkleRoot,
      fileCount: count,
      manifestFileCount: count,
      totalBytes,
      manifestDigest,
      checkMode: 'recorded_hashes',
      issuedAtUnix: 1_800_000_000,
      nonce: '0b'.repeat(16),
    },
    SIGNER,
    DEFAULT_DOMAIN_TAG,
  )
  const { merkle_root, file_count, manifest_file_count, total_bytes, check_mode, issued_at } = envelope.body
  return {
    schema: EVIDENCE_BUNDLE_SCHEMA,
    bundle_version: 2,
    receipt_id: 'rcpt_1',
    proof_id: envelope.body.proof_id,
    algorithms: { merkle: MERKLE_ALGORITHM, envelope: EVIDENCE_SCHEMA },
    commitment: { merkle_root, file_count, manifest_file_count, total_bytes, check_mode, attested_at: issued_at },
    envelope,
    v1_signature: null,
    anchor: null,
    signing_keys: null,
  }
}

/** `f0000000`, `f0000001`, … */
export function listedFiles(count: number): FileEntry[] {
  return Array.from({ length: count }, (_, i) => {
    return { filename: `f${String(i).padStart(7, '0')}`, size_bytes: i, content_hash: 'ab'.repeat(32) }
  })
}

/** The bytes of a text in chunks that cycle through these sizes. */
export function* inChunks(text: string, sizes: readonly number[]): Generator<Uint8Array> {
  const bytes = utf8(text)
  for (let start = 0, turn = 0; start < bytes.length; turn++) {
    const size = sizes[turn % sizes.length] as number
    yield bytes.subarray(start, start + size)
    start += size
  }
}
