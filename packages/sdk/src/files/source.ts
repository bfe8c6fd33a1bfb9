// Sources of uploads: bytes, blobs, streams and files.

export interface Source {
  /** Null if it is unknown until the end. */
  size: number | null
  contentType?: string
  /** The hash with its prefix, if it is known. */
  contentHash?: string
  /** Whether `open` can be called again. */
  isRepeatable: boolean
  /** Returns all bytes from the beginning. */
  open(): AsyncIterable<Uint8Array>
}

/** A source that can be read once, with its size if known. */
export function streamSource(
  bytes: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>,
  size: number | null,
): Source {
  return { size, isRepeatable: false, open: () => (bytes instanceof ReadableStream ? chunksOf(bytes) : bytes) }
}

export type SourceLike = Source | Blob | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

export function sourceOf(bytes: SourceLike): Source {
  if (bytes instanceof Uint8Array) return memorySource(bytes)
  if (bytes instanceof Blob) return blobSource(bytes)
  // `open` does not identify a source: Node's streams have it too.
  return 'isRepeatable' in bytes ? bytes : streamSource(bytes, null)
}

export function memorySource(bytes: Uint8Array): Source {
  return {
    size: bytes.length,
    isRepeatable: true,
    async *open() {
      yield bytes
    },
  }
}

function blobSource(blob: Blob): Source {
  return {
    size: blob.size,
    ...(blob.type && { contentType: blob.type }),
    isRepeatable: true,
    open: () => chunksOf(blob.stream()),
  }
}

/** The chunks of a stream. Not every browser can iterate over one. */
export async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } finally {
    await reader.cancel().catch(() => {})
  }
}

/** The bytes in parts of one size. The last may be shorter. An empty source gives one empty part. */
export async function* inParts(chunks: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(partBytes)
  let filled = 0
  let isFirst = true
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const piece = chunk.subarray(at, at + partBytes - filled)
      part.set(piece, filled)
      filled += piece.length
      at += piece.length
      if (filled < partBytes) continue
      yield part
      part = new Uint8Array(partBytes)
      filled = 0
      isFirst = false
    }
  }
  if (filled > 0 || isFirst) yield part.subarray(0, filled)
}

/** All bytes of a source with a known size. */
export async function readWhole({ size, open }: Source): Promise<Uint8Array> {
  const whole = new Uint8Array(size ?? 0)
  let filled = 0
  for await (const chunk of open()) {
    if (filled + chunk.length > whole.length) throw wrongSize(size)
    whole.set(chunk, filled)
    filled += chunk.length
  }
  if (filled < whole.length) throw wrongSize(size)
  return whole
}

export function wrongSize(size: number | null): RangeError {
  return new RangeError(`the source does not have the ${size} bytes that it declares`)
}
