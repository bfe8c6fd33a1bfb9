// Bytes as they come → pieces of text of one size, whatever the size of the chunks: tiny ones are put together, a whole
// bundle in one chunk is cut, and no character is torn apart.

import { fromUtf8 } from '@svc/protocol/bytes'
import { RefusedBundle } from './refusal.ts'

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>

const PIECE_BYTES = 64 * 1024
/** A million files with the longest names take 0.7 GB. */
const MAX_BUNDLE_BYTES = 1024 ** 3

export async function* textPieces(chunks: Chunks): AsyncGenerator<string> {
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

/** How many bytes there are before a last character that is cut short. */
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
