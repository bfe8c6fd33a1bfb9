import type { Gathering } from '../batches.ts'
import type { Outflow } from '../http/send-body.ts'

/** What a source gives, cut to lengths. */
export interface Portions {
  /**
   * Exactly so many bytes, as they come, with a `RangeError` in place of the last of them where the source has fewer;
   * or, if they are to be all, more.
   */
  outflow(length: number, areAll: boolean): Outflow
  /** Fills the room as far as the source goes; says how far that is. */
  fill(room: Buffer): Promise<number>
  /** Whether the source has nothing more to give. */
  isAtEnd(): Promise<boolean>
}

export function createPortions(gathering: Gathering): Portions {
  let rest: Buffer[] = []

  /** So many bytes at most; none at the end of the source. */
  async function take(most: number): Promise<Buffer[]> {
    if (rest.length === 0) rest = await gathering.take()
    const [taken, left] = cut(rest, most)
    rest = left
    return taken
  }

  async function isAtEnd(): Promise<boolean> {
    if (rest.length === 0) rest = await gathering.take()
    return rest.length === 0
  }

  return {
    isAtEnd,
    outflow(length, areAll) {
      let hasBegun = false
      async function* pieces() {
        hasBegun = true
        for (let left = length; left > 0; ) {
          const taken = await take(left)
          if (taken.length === 0) throw notOfDeclaredSize()
          left -= lengthOf(taken)
          if (left === 0 && areAll && !(await isAtEnd())) throw notOfDeclaredSize()
          yield taken
        }
      }
      return { length, hasBegun: () => hasBegun, pieces }
    },
    async fill(room) {
      let filled = 0
      while (filled < room.length) {
        const taken = await take(room.length - filled)
        if (taken.length === 0) break
        for (const piece of taken) filled += piece.copy(room, filled)
      }
      return filled
    },
  }
}

export function notOfDeclaredSize(): RangeError {
  return new RangeError('the source is not of its declared size')
}

function cut(pieces: Buffer[], most: number): [taken: Buffer[], left: Buffer[]] {
  let room = most
  for (const [i, piece] of pieces.entries()) {
    if (piece.length > room) {
      const taken = [...pieces.slice(0, i), piece.subarray(0, room)].filter(({ length }) => length > 0)
      return [taken, [piece.subarray(room), ...pieces.slice(i + 1)]]
    }
    room -= piece.length
  }
  return [pieces, []]
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
