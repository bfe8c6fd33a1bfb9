// Reads the body of a request in pieces. An interrupted body simply ends; afterwards `problem` returns the reason.

import type { Readable } from 'node:stream'

export interface BodyPieces {
  /** The next bytes, at most `max`. */
  upTo(max: number): AsyncGenerator<Buffer>
  /** The error that interrupted the body; null when it ended normally or has not ended. */
  problem(): unknown
}

export function piecesOf(body: Readable, see: (chunk: Buffer) => void): BodyPieces {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let rest: Buffer | null = null
  let problem: unknown = null

  async function next(): Promise<Buffer | null> {
    if (problem !== null) return null
    try {
      const { value, done } = await chunks.next()
      if (done) return null
      see(value)
      return value
    } catch (error) {
      problem = error
      return null
    }
  }

  return {
    async *upTo(max) {
      for (let left = max; left > 0; ) {
        const chunk: Buffer | null = rest ?? (await next())
        rest = null
        if (!chunk) return
        const taken = chunk.subarray(0, left)
        if (taken.length < chunk.length) rest = chunk.subarray(taken.length)
        left -= taken.length
        yield taken
      }
    },
    problem: () => problem,
  }
}
