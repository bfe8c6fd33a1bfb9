import { type Batches, lengthOf } from '../batches.ts'
import type { StreamedBody } from '../http/body.ts'
import { wrongSize } from '../object-rules.ts'

/** A source, cut into given lengths. */
export interface Portions {
  /**
   * Exactly this many bytes. A `RangeError` replaces the last bytes when the source has fewer, or when it has more and
   * this portion is the last.
   */
  stream(length: number, options: { isLast: boolean }): StreamedBody
  /** Fills the buffer, or a part of it when the source ends first; returns the number of bytes. */
  fill(buffer: Buffer): Promise<number>
  isAtEnd(): Promise<boolean>
}

export function createPortions(batches: Batches): Portions {
  let rest: Buffer[] = []

  /** At most this many bytes; none at the end of the source. */
  async function take(most: number): Promise<Buffer[]> {
    if (rest.length === 0) rest = await batches.next()
    const [taken, unread] = cut(rest, most)
    rest = unread
    return taken
  }

  async function isAtEnd(): Promise<boolean> {
    if (rest.length === 0) rest = await batches.next()
    return rest.length === 0
  }

  return {
    isAtEnd,
    stream(length, { isLast }) {
      let hasBegun = false
      async function* pieces() {
        hasBegun = true
        for (let left = length; left > 0; ) {
          const taken = await take(left)
          if (taken.length === 0) throw wrongSize()
          left -= lengthOf(taken)
          if (left === 0 && isLast && !(await isAtEnd())) throw wrongSize()
          yield taken
        }
      }
      return { length, hasBegun: () => hasBegun, pieces }
    },
    async fill(buffer) {
      let filled = 0
      while (filled < buffer.length) {
        const taken = await take(buffer.length - filled)
        if (taken.length === 0) break
        for (const piece of taken) filled += piece.copy(buffer, filled)
      }
      return filled
    },
  }
}

function cut(pieces: Buffer[], most: number): [taken: Buffer[], rest: Buffer[]] {
  let left = most
  for (const [i, piece] of pieces.entries()) {
    if (piece.length > left) {
      const taken = [...pieces.slice(0, i), piece.subarray(0, left)].filter(({ length }) => length > 0)
      return [taken, [piece.subarray(left), ...pieces.slice(i + 1)]]
    }
    left -= piece.length
  }
  return [pieces, []]
}
