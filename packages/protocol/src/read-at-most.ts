// Bytes of somebody who may send them without end.

/** More came than was asked for. */
export class TooManyBytes extends RangeError {
  override name = 'TooManyBytes'
}

const FIRST_BYTES = 16_384

/**
 * All bytes, in one piece of memory that grows with them, however small the chunks are. Ends the source and throws
 * `TooManyBytes` as soon as there are more than these.
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
