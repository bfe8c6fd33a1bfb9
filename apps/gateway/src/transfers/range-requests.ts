// Range and conditional requests (ADD-06; RFC 9110, 13 and 14). A tag is the text of the ETag header, quotes included;
// null when the answer has none. There is no Last-Modified, so conditions by date never hold.

import type { ByteRange } from '@svc/storage/provider'

// Twenty digits hold every 64-bit number; some clients send the greatest one for "to the end".
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * The part of a file that a Range header selects (RFC 9110, 14.1.2). A server may ignore the header: this one ignores
 * several ranges, other units and malformed ranges, and answers the whole file.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (first === '') return last === '' ? 'whole' : suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last)
  if (end < start) return 'whole'
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

function suffix(length: number, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (length === 0) return 'unsatisfiable'
  // The suffix of an empty file is the whole file, which no Content-Range can express.
  return size === 0 ? 'whole' : { start: Math.max(size - length, 0), end: size - 1 }
}

/** Whether the client has these bytes already: 304. */
export function isNotModified(ifNoneMatch: string | undefined, etag: string | null): boolean {
  if (ifNoneMatch === undefined) return false
  if (ifNoneMatch.trim() === '*') return true
  return etag !== null && opaqueTags(ifNoneMatch).includes(etag.replace(/^W\//, ''))
}

/** Whether the Range header applies: always without If-Range, otherwise only if the tag is strong and the same. */
export function isRangeStillGood(ifRange: string | undefined, etag: string | null): boolean {
  if (ifRange === undefined) return true
  return etag !== null && !etag.startsWith('W/') && ifRange.trim() === etag
}

/** The quoted parts of a list of tags, weak or strong. A tag may contain a comma. */
function opaqueTags(list: string): string[] {
  return list.match(/"[^"]*"/g) ?? []
}
