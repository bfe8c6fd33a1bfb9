// Bytes of an evidence bundle → its parts, none of which is trusted yet. The file list is never held in memory: its files
// pass by in order, and a count and two digests remain.

import { fromUtf8 } from '@svc/protocol/bytes'
import type { Json } from '@svc/protocol/canonical'
import type { FileEntry } from '@svc/protocol/merkle'
import { EVIDENCE_BUNDLE_SCHEMA, EVIDENCE_SCHEMA, MERKLE_ALGORITHM } from '@svc/protocol/names'
import { type CountedFiles, createFileCounter, createFileOrder } from './file-list.ts'
import { createFileRows } from './file-rows.ts'
import { createRestOfDocument } from './rest-of-document.ts'
import { isObject, type JsonObject, RefusedBundle, strictJson } from './untrusted.ts'

export interface BundleParts {
  version: 1 | 2
  /** Everything but the rows of the file list. */
  document: JsonObject
  /** Fields of the rows besides name, size and hash. */
  otherRowFields: string[]
  receiptId: Json
  proofId: Json
  commitment: JsonObject
  /** Null in a version-1 bundle. */
  envelope: JsonObject | null
  /** Null in a version-2 bundle. */
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
  return { ...parts, otherRowFields: rows.otherFields(), files }
}

function bundleParts(bundle: Json): Omit<BundleParts, 'files' | 'otherRowFields'> {
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
    version: bundle_version,
    document: bundle,
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

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const PIECE_BYTES = 64 * 1024
/** A million files with the longest names take 0.7 GB. */
const MAX_BUNDLE_BYTES = 1024 ** 3

/** Text in pieces of one size, whatever the size of the chunks. No character is split. */
async function* textPieces(chunks: Chunks): AsyncGenerator<string> {
  const buffer = new Uint8Array(PIECE_BYTES)
  let used = 0
  let total = 0
  for await (const chunk of chunks) {
    total += chunk.length
    if (total > MAX_BUNDLE_BYTES) throw new RefusedBundle('too_large', `more than ${MAX_BUNDLE_BYTES} bytes`)
    for (let at = 0; at < chunk.length; ) {
      const part = chunk.subarray(at, at + PIECE_BYTES - used)
      buffer.set(part, used)
      used += part.length
      at += part.length
      if (used < PIECE_BYTES) continue
      const whole = wholeCharacters(buffer)
      yield decode(buffer.subarray(0, whole))
      buffer.copyWithin(0, whole)
      used -= whole
    }
  }
  if (used > 0) yield decode(buffer.subarray(0, used))
}

/** The number of bytes before a last character that is cut short. */
function wholeCharacters(bytes: Uint8Array): number {
  const end = bytes.length
  for (let start = end - 1; start >= end - 4; start--) {
    const byte = bytes[start] as number
    if (byte >= 0x80 && byte < 0xc0) continue
    const length = byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4
    return start + length > end ? start : end
  }
  return end
}

function decode(bytes: Uint8Array): string {
  const text = fromUtf8(bytes)
  if (text === null) throw new RefusedBundle('not_strict_json', 'not UTF-8')
  return text
}
