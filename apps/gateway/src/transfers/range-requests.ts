import type { ByteRange } from '@svc/storage/provider'

// Twenty digits hold every 64-bit number; some clients send the greatest for "to the end". More is no position.
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * The part of a file that a Range header asks for (ADD-06; RFC 9110, 14.1.2). A server may ignore the header: so it
 * does with several ranges, other units and what makes no sense, and answers the whole file.
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
  // The last bytes of an empty file are all of it, and no range can say so.
  return size === 0 ? 'whole' : { start: Math.max(size - length, 0), end: size - 1 }
}
