// SHA-256 for other packages (OpenSSL on servers, noble in browsers), and the hash of a file's content.

import { sha256Stream } from '#crypto'

export { sha256Bytes, sha256Hex, sha256Stream } from '#crypto'

export interface ContentHash {
  size_bytes: number
  /** Without the prefix `sha256:`. */
  content_hash: string
}

/** Null as soon as there are more than `maxBytes`. The rest is not read. */
export async function hashContent(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
): Promise<ContentHash | null> {
  const hash = sha256Stream()
  let size_bytes = 0
  for await (const piece of pieces) {
    size_bytes += piece.length
    if (size_bytes > maxBytes) return null
    hash.update(piece)
  }
  return { size_bytes, content_hash: hash.hex() }
}
