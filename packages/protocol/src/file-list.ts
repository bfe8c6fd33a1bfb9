// Digests of a file list that is too long for memory: the text of its rows is hashed chunk by chunk. The results equal
// `manifestDigest` and `resultHash`.

import { sha256Stream } from '#crypto'
import { bare, withPrefix } from './bytes.ts'
import { canonicalJsonV1, isPlainText } from './canonical.ts'
import type { FileEntry } from './merkle.ts'

/** A row of `result_hash` (Merkle rule 11), written directly if nothing needs to be escaped. */
export function listRow(file: FileEntry): string {
  const { filename, size_bytes } = file
  const content_hash = bare(file.content_hash)
  if (!isPlainText(content_hash) || !isPlainText(filename) || !Number.isSafeInteger(size_bytes)) {
    return canonicalJsonV1({ filename, size_bytes, content_hash })
  }
  return `{"content_hash":"${content_hash}","filename":"${filename}","size_bytes":${size_bytes}}`
}

/**
 * The rows of `manifest_digest`, in which sizes are strings (EVID-02). Inside a JSON string every quote follows a
 * backslash, so a match is always the key itself.
 */
function manifestRows(rows: string): string {
  return rows.replace(/,"size_bytes":(-?\d+)\}/g, ',"size_bytes":"$1"}')
}

export interface ManifestHasher {
  /** One or more rows in the order of their filenames, separated by commas. */
  add(rows: string): void
  /** The `manifest_digest`. */
  end(): string
}

export function hashManifest(): ManifestHasher {
  const hash = sha256Stream()
  let isEmpty = true
  return {
    add(rows) {
      hash.update((isEmpty ? '[' : ',') + manifestRows(rows))
      isEmpty = false
    },
    end() {
      hash.update(isEmpty ? '[]' : ']')
      return withPrefix(hash.hex())
    },
  }
}

export interface FileListDigests {
  manifestDigest: string
  resultHash: string
}

export interface FileListHasher {
  /** One or more rows, as in `ManifestHasher`. */
  add(rows: string): void
  end(): FileListDigests
}

export function hashFileList(lockerId: string): FileListHasher {
  const manifest = hashManifest()
  const result = sha256Stream()
  let isEmpty = true
  return {
    add(rows) {
      manifest.add(rows)
      result.update((isEmpty ? '{"files":[' : ',') + rows)
      isEmpty = false
    },
    end() {
      result.update(`${isEmpty ? '{"files":[' : ''}],"locker_id":${canonicalJsonV1(lockerId)}}`)
      return { manifestDigest: manifest.end(), resultHash: withPrefix(result.hex()) }
    },
  }
}
