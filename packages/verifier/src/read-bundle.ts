// Bytes of an evidence bundle → its parts. Nothing in them is trusted yet. The file list is never held: its files go by
// in order, and what remains of them is a count and two digests.

import type { Json } from '@svc/protocol/canonical'
import type { FileEntry } from '@svc/protocol/merkle'
import { EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { type CountedFiles, createFileCounter } from './counted-files.ts'
import { createFileOrder } from './file-order.ts'
import { createFileRows } from './file-rows.ts'
import { RefusedBundle } from './refusal.ts'
import { createRestOfDocument } from './rest-of-document.ts'
import { isObject, type JsonObject, strictJson } from './strict.ts'
import { type Chunks, textPieces } from './text-pieces.ts'

export interface BundleParts {
  receiptId: Json
  proofId: Json
  commitment: JsonObject
  /** Of a version-2 bundle. */
  envelope: JsonObject | null
  /** Of a version-1 bundle. */
  v1Signature: JsonObject | null
  anchor: JsonObject | null
  signingKeys: Json
  files: CountedFiles
}

/** `onFiles` gets all files in code-point order, some at a time. Throws a RefusedBundle, and what `chunks` throws. */
export async function readBundle(
  chunks: Chunks,
  onFiles: (files: readonly FileEntry[]) => Promise<void>,
): Promise<BundleParts> {
  const order = createFileOrder()
  const counter = createFileCounter()
  const rows = createFileRows((file) => order.take(file))
  const rest = createRestOfDocument()

  async function settle(files: readonly FileEntry[]): Promise<void> {
    counter.add(files)
    await onFiles(files)
  }

  let isInList = false
  for await (const piece of textPieces(chunks)) {
    for (let unread: string | null = piece; unread; ) {
      const next: string | null = isInList ? rows.write(unread) : rest.write(unread)
      if (next !== null) isInList = !isInList
      unread = next
    }
    await settle(order.release())
  }
  if (isInList) throw new RefusedBundle('not_strict_json', 'the text ends within the file list')
  const document = strictJson(rest.text(), rest.text().length, 'the bundle')
  const parts = bundleParts(document)
  await settle(order.end())
  const files = counter.end()
  if (!files) throw new RefusedBundle('empty_file_list', 'a bundle must list at least one file')
  return { ...parts, files }
}

function bundleParts(bundle: Json): Omit<BundleParts, 'files'> {
  if (!isObject(bundle) || bundle.schema !== EVIDENCE_BUNDLE_SCHEMA) {
    throw new RefusedBundle('not_a_bundle', `schema is not ${EVIDENCE_BUNDLE_SCHEMA}`)
  }
  const { bundle_version, algorithms, receipt_id = null, proof_id = null, signing_keys = null } = bundle
  if (bundle_version !== 1 && bundle_version !== 2) {
    throw new RefusedBundle('unsupported_version', 'bundle_version is neither 1 nor 2')
  }
  const expected = { merkle: MERKLE_ALGORITHM, envelope: bundle_version === 2 ? EVIDENCE_SCHEMA : null }
  if (!isObject(algorithms) || algorithms.merkle !== expected.merkle || algorithms.envelope !== expected.envelope) {
    throw new RefusedBundle('unsupported_version', 'algorithms names others than this version has')
  }
  const envelope = objectOrNull(bundle, 'envelope')
  const v1Signature = objectOrNull(bundle, 'v1_signature')
  const anchor = objectOrNull(bundle, 'anchor')
  const commitment = objectOrNull(bundle, 'commitment')
  if (!commitment) throw new RefusedBundle('not_a_bundle', 'there is no commitment')
  if (!Array.isArray(bundle.files)) throw new RefusedBundle('not_a_bundle', 'files is not a list')
  if ((envelope !== null) !== (bundle_version === 2) || (v1Signature !== null) !== (bundle_version === 1)) {
    throw new RefusedBundle('not_a_bundle', 'version 2 has an envelope alone, version 1 a v1_signature alone')
  }
  return {
    receiptId: receipt_id,
    proofId: proof_id,
    commitment,
    envelope,
    v1Signature,
    anchor,
    signingKeys: signing_keys,
  }
}

function objectOrNull(bundle: JsonObject, field: string): JsonObject | null {
  const value = bundle[field] ?? null
  if (value === null || isObject(value)) return value
  throw new RefusedBundle('not_a_bundle', `${field} is not an object`)
}
