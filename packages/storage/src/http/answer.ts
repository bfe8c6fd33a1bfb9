import type { IncomingMessage } from 'node:http'
import { type ByteRange, ProviderError } from '../provider.ts'

/** What an answer holds, both ends in it, and how long all is. */
export interface GivenBytes extends ByteRange {
  total: number
}

/** As the answer says itself: trouble where it does not say it, or says two things. */
export function givenBytes({ statusCode, headers }: IncomingMessage): GivenBytes {
  const length = wholeNumber(headers['content-length'])
  if (statusCode === 200) return { start: 0, end: length - 1, total: length }
  const ends = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(headers['content-range'] ?? '')
  const [start = 0, end = 0, total = 0] = ends?.slice(1).map(Number) ?? []
  if (statusCode === 206 && ends && end - start + 1 === length && end < total) return { start, end, total }
  throw new ProviderError('unavailable', new Error('the store does not tell which bytes it gives'))
}

export function isRange(given: ByteRange, { start, end }: ByteRange): boolean {
  return given.start === start && given.end === end
}

/** A length as headers and documents tell it. */
export function wholeNumber(text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text)
  throw new ProviderError('unavailable', new Error('the store does not tell how long an object is'))
}
