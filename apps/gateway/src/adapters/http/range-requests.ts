// Range and conditional requests (ADD-06; RFC 9110, sections 13 and 14). A tag here is the full text of the ETag
// header, including its quotes.

import type { IncomingHttpHeaders } from 'node:http'
import type { ByteRange } from '@svc/storage/provider'
import { readHttpDate } from './http-dates.ts'

/** The values that conditions are compared with. */
export interface Validators {
  /** All are strong and identify the same bytes: a file gets a second tag when its hash is recorded. */
  etags: readonly string[]
  /** Unix milliseconds, rounded to seconds; null when unknown. */
  modifiedAt: number | null
}

/** Evaluates the conditions of a request in the order of RFC 9110, section 13.2.2. */
export function checkConditions(headers: IncomingHttpHeaders, now: Validators): 'met' | 'not-modified' | 'failed' {
  const { 'if-match': match, 'if-unmodified-since': unmodifiedSince } = headers
  const { 'if-none-match': noneMatch, 'if-modified-since': modifiedSince } = headers
  if (match !== undefined ? !isMatch(match, now) : isModifiedSince(unmodifiedSince, now) === true) return 'failed'
  const isKnown = noneMatch !== undefined ? isNoneMatch(noneMatch, now) : isModifiedSince(modifiedSince, now) === false
  return isKnown ? 'not-modified' : 'met'
}

/**
 * Whether the gateway must answer the request itself. A provider has its own tags and times: conditions with our tags
 * would fail there, or the client could mix two files. A client that resumes a download from a provider sends the
 * provider's tag in `If-Range` and is redirected again.
 */
export function needsOurTags(headers: IncomingHttpHeaders): boolean {
  const { 'if-match': match, 'if-unmodified-since': unmodifiedSince, 'if-range': range } = headers
  const isTheirs = typeof range === 'string' && /^"(?!sha256:|object:)/.test(range)
  return match !== undefined || unmodifiedSince !== undefined || (range !== undefined && !isTheirs)
}

/** Strong comparison: a weak tag never matches. */
function isMatch(list: string, { etags }: Validators): boolean {
  return list.trim() === '*' || tagsIn(list).some((tag) => etags.includes(tag))
}

/** Weak comparison. */
function isNoneMatch(list: string, { etags }: Validators): boolean {
  return list.trim() === '*' || tagsIn(list).some((tag) => etags.includes(tag.replace(/^W\//, '')))
}

/** Null when a date is unknown. */
function isModifiedSince(date: string | undefined, { modifiedAt }: Validators): boolean | null {
  const since = date === undefined ? null : readHttpDate(date)
  return modifiedAt === null || since === null ? null : modifiedAt > since * 1000
}

/** All tags of a list, weak or strong. A tag may contain a comma. */
function tagsIn(list: string): string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? []
}

// Twenty digits cover every 64-bit number; some clients send the largest one to mean "to the end".
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * The part of a file that a Range header selects (RFC 9110, section 14.1.2). A server may ignore the header: this one
 * ignores several ranges, other units and malformed ranges, and sends the whole file.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (first === '') return last === '' ? 'whole' : suffix(Number(last), size)
  // As floating-point numbers, very large values equal their neighbours, so compare them as integers.
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  const start = Number(first)
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last)
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

function suffix(length: number, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (length === 0) return 'unsatisfiable'
  // The suffix of an empty file is the whole file, which Content-Range cannot express.
  return size === 0 ? 'whole' : { start: Math.max(size - length, 0), end: size - 1 }
}

/**
 * Whether the Range header applies. Without If-Range it always does; otherwise the tag must be strong and equal. A date
 * is never sufficient, because a file may change twice within one second.
 */
export function isRangeApplicable(ifRange: string | undefined, { etags }: Validators): boolean {
  return ifRange === undefined || etags.includes(ifRange.trim())
}
