// HTTP byte ranges: what to request, and what an answer contains.

import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { parseSize } from '../object-rules.ts'
import { type ByteRange, ProviderError } from '../provider.ts'
import { BUFFERING } from './agent.ts'

/** The bytes in an answer, and the size of the whole object. */
export interface AnsweredBytes extends ByteRange {
  total: number
}

export function rangeHeader({ start, end }: ByteRange): { range: string } {
  return { range: `bytes=${start}-${end}` }
}

/** The range that the answer states; throws when it states none, or contradicts itself. */
export function answeredBytes({ statusCode, headers }: IncomingMessage): AnsweredBytes {
  const length = parseSize(headers['content-length'])
  if (statusCode === 200) return { start: 0, end: length - 1, total: length }
  const ends = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '')
  const [start = 0, end = 0, total = 0] = ends?.slice(1).map(Number) ?? []
  if (statusCode === 206 && ends && end - start + 1 === length && end < total) return { start, end, total }
  throw new ProviderError('unavailable', 'the provider does not state which bytes it sends')
}

export function isSameRange(a: ByteRange, b: ByteRange): boolean {
  return a.start === b.start && a.end === b.end
}

export function isComplete({ start, end, total }: AnsweredBytes): boolean {
  return start === 0 && end === total - 1
}

/** Whether the answer is not compressed. */
export function isIdentity({ headers }: IncomingMessage): boolean {
  return (headers['content-encoding'] ?? 'identity') === 'identity'
}

/** Runs a check on an answer, and closes the answer when it fails. */
export function checked<Result>(answer: IncomingMessage, check: () => Result): Result {
  try {
    return check()
  } catch (error) {
    answer.destroy()
    throw error
  }
}

/** A range of a stream, for servers that send the whole object. The stream ends with it. */
export function cutRange(whole: Readable, { start, end }: ByteRange): Readable {
  async function* range(): AsyncGenerator<Buffer> {
    let position = 0
    for await (const chunk of whole as AsyncIterable<Buffer>) {
      const wanted = chunk.subarray(Math.max(0, start - position), Math.max(0, end + 1 - position))
      position += chunk.length
      if (wanted.length > 0) yield wanted
      if (position > end) return
    }
    throw new ProviderError('unavailable', 'an object ended early')
  }
  return Readable.from(range(), { objectMode: false, ...BUFFERING })
}
