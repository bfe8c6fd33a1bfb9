// Reads the bytes of an evidence bundle, full or redacted, into parts that are still untrusted. Lists are never stored
// in memory: files are passed on in order, leaves as they arrive, and only a count and digests remain.

import { fromUtf8 } from '@svc/protocol/bytes'
import { type DocumentParts, documentParts, isRedacted } from './document-parts.ts'
import { type CountedFiles, createFileCounter, createFileOrder } from './file-list.ts'
import { createFileRows } from './file-rows.ts'
import { createInclusionCheck, type Inclusion, type InclusionCheck, type PlacedFile } from './inclusion.ts'
import { type CountedLeaves, createLeafRows } from './leaf-rows.ts'
import { createRestOfDocument, type ListKey } from './rest-of-document.ts'
import { type JsonObject, RefusedBundle, strictJson } from './untrusted.ts'

type Listed = {
  /** Unknown fields of the rows, which are not verified. */
  otherRowFields: string[]
} & (
  | { redaction: null; files: CountedFiles }
  /** `files`: the files that the bundle shows. */
  | { redaction: 'chosen_files'; files: CountedFiles; inclusion: Inclusion }
  | { redaction: 'no_names'; leaves: CountedLeaves }
)

export type BundleParts = DocumentParts & Listed

type OnSome<T> = (some: readonly T[]) => Promise<void>

/**
 * `onFiles` receives all files in code-point order in batches, and `onLeaves` the leaves of a bundle without names.
 * Throws a RefusedBundle, and any error of `chunks`.
 */
export async function readBundle(
  chunks: Chunks,
  onFiles: OnSome<PlacedFile>,
  onLeaves: OnSome<string> = async () => {},
): Promise<BundleParts> {
  const order = createFileOrder<PlacedFile>()
  const counter = createFileCounter()
  const inclusion = createInclusionCheck()
  const rows = createFileRows((file, row) => order.take(inclusion.fold(file, row)))
  const leaves = createLeafRows()
  const rest = createRestOfDocument()
  const lists = { files: rows, leaf_hashes: leaves }

  async function settle(files: readonly PlacedFile[]): Promise<void> {
    inclusion.add(files)
    counter.add(files)
    await onFiles(files)
  }

  let list: ListKey | null = null
  for await (const piece of textPieces(chunks)) {
    for (let unread: string | null = piece; unread; ) {
      if (list) {
        unread = lists[list].write(unread)
        if (unread !== null) list = null
      } else {
        const begun = rest.write(unread)
        list = begun?.list ?? null
        unread = begun?.rows ?? null
      }
    }
    await settle(order.release())
    await onLeaves(leaves.release())
  }
  if (list) throw new RefusedBundle('not_strict_json', `the text ends within ${list}`)
  const parts = documentParts(strictJson(rest.text(), rest.text().length, 'the bundle'))
  await settle(order.end())
  const found = { files: counter.end(), leaves: leaves.end(), inclusion, otherRowFields: rows.otherFields() }
  return { ...parts, ...listed(parts.document, found) }
}

interface FoundLists {
  files: CountedFiles | null
  leaves: CountedLeaves | null
  inclusion: InclusionCheck
  otherRowFields: string[]
}

function listed(document: JsonObject, { files, leaves, inclusion, otherRowFields }: FoundLists): Listed {
  if (!isRedacted(document)) return { redaction: null, files: files ?? emptyList(), otherRowFields }
  if (document.redaction === 'no_names') return { redaction: 'no_names', leaves: leaves ?? emptyList(), otherRowFields }
  const unreadable = inclusion.unreadable()
  if (unreadable !== null)
    throw new RefusedBundle('bad_file_proof', `${unreadable} has no leaf_index with a proof of that leaf`)
  return {
    redaction: 'chosen_files',
    files: files ?? emptyList(),
    inclusion: inclusion.end(),
    otherRowFields: otherRowFields.filter((field) => !PROOF_FIELDS.includes(field)),
  }
}

const PROOF_FIELDS = ['files[].leaf_index', 'files[].proof']

function emptyList(): never {
  throw new RefusedBundle('empty_file_list', 'a bundle must list at least one file')
}

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const PIECE_BYTES = 64 * 1024
/** A million files with the longest names take 0.7 GB. */
const MAX_BUNDLE_BYTES = 1024 ** 3

/** Text in pieces of one size, for chunks of any size. No character is split. */
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
      const complete = completeCharacters(buffer)
      yield decode(buffer.subarray(0, complete))
      buffer.copyWithin(0, complete)
      used -= complete
    }
  }
  if (used > 0) yield decode(buffer.subarray(0, used))
}

/** The number of bytes before an incomplete last character. */
function completeCharacters(bytes: Uint8Array): number {
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
