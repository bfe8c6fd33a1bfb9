// The bytes of a browser file, read in pieces.

import { withPrefix } from '@svc/protocol/bytes'
import { sha256Stream } from '@svc/protocol/sha256'
import type { Source } from '@svc/sdk'

/** The size of a piece; the page can render between two pieces. */
const READ_AT_ONCE = 1024 * 1024

export function fileSource(file: File, contentHash: string | null): Source {
  return {
    size: file.size,
    isRepeatable: true,
    ...(contentHash !== null && { contentHash }),
    open: () => chunksOf(file),
  }
}

export async function hashOf(file: File, signal: AbortSignal, onProgress: (done: number) => void): Promise<string> {
  const hash = sha256Stream()
  let done = 0
  for await (const chunk of chunksOf(file)) {
    signal.throwIfAborted()
    hash.update(chunk)
    done += chunk.length
    onProgress(done)
  }
  return withPrefix(hash.hex())
}

/** Reads a file in pieces, so that it needs little memory and reads only what is used. */
async function* chunksOf(file: File): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < file.size; start += READ_AT_ONCE)
    yield new Uint8Array(await file.slice(start, start + READ_AT_ONCE).arrayBuffer())
}
