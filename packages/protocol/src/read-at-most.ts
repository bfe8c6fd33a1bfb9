// Reads untrusted bytes, which may never end, up to a limit.

/** The source has more bytes than the limit. */
export class TooManyBytes extends RangeError {
  override name = 'TooManyBytes'
}

const FIRST_BYTES = 16_384

/**
 * Reads all bytes into one buffer that grows with them, however small the chunks are. Ends the source and throws
 * `TooManyBytes` as soon as there are more than `maxBytes`.
 */
export async function readAtMost(
  maxBytes: number,
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<Uint8Array<ArrayBuffer>> {
  let held = new Uint8Array(Math.min(maxBytes, FIRST_BYTES))
  let received = 0
  for await (const chunk of source) {
    const end = received + chunk.length
    if (end > maxBytes) throw new TooManyBytes(`more than ${maxBytes} bytes`)
    if (end > held.length) held = grown(held.subarray(0, received), Math.min(maxBytes, Math.max(end, 2 * held.length)))
    held.set(chunk, received)
    received = end
  }
  return held.subarray(0, received)
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length)
  larger.set(bytes)
  return larger
}
