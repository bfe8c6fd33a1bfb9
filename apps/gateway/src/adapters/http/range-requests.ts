// Range and conditional requests (ADD-06; RFC 9110, 13 and 14). A tag is the text of the ETag header, quotes
// included.

import type { IncomingHttpHeaders } from 'node:http'
import type { ByteRange } from '@svc/storage/provider'
import { readHttpDate } from './http-dates.ts'

/** What conditions are compared with. */
export interface Validators {
  /** All strong, and all of the same bytes: a file gets another tag when its hash is recorded. */
  etags: readonly string[]
  /** Unix milliseconds, whole seconds; null when it is not known. */
  modifiedAt: number | null
}

/** The outcome of the conditions of a request, in the order of RFC 9110, 13.2.2. */
export function checkConditions(headers: IncomingHttpHeaders, now: Validators): 'met' | 'not-modified' | 'failed' {
  const { 'if-match': match, 'if-unmodified-since': unmodifiedSince } = headers
  const { 'if-none-match': noneMatch, 'if-modified-since': modifiedSince } = headers
  if (match !== undefined ? !isMatch(match, now) : isModifiedSince(unmodifiedSince, now) === true) return 'failed'
  const isKnown = noneMatch !== undefined ? isNoneMatch(noneMatch, now) : isModifiedSince(modifiedSince, now) === false
  return isKnown ? 'not-modified' : 'met'
}

/**
 * Whether a provider would refuse the request, or mix two files: it has tags and times of its own. A client that goes on
 * with a download which the provider began has the provider's tag in `If-Range`, and is sent there again.
 */
export function needsOurTags(headers: IncomingHttpHeaders): boolean {
  const { 'if-match': match, 'if-unmodified-since': unmodifiedSince, 'if-range': range } = headers
  const isTheirs = typeof range === 'string' && /^"(?!sha256:|object:)/.test(range)
  return match !== undefined || unmodifiedSince !== undefined || (range !== undefined && !isTheirs)
}

/** By strong comparison: a weak tag never matches. */
function isMatch(list: string, { etags }: Validators): boolean {
  return list.trim() === '*' || tagsIn(list).some((tag) => etags.includes(tag))
}

/** By weak comparison. */
function isNoneMatch(list: string, { etags }: Validators): boolean {
  return list.trim() === '*' || tagsIn(list).some((tag) => etags.includes(tag.replace(/^W\//, '')))
}

/** Null when one of the dates is not known. */
function isModifiedSince(date: string | undefined, { modifiedAt }: Validators): boolean | null {
  const since = date === undefined ? null : readHttpDate(date)
  return modifiedAt === null || since === null ? null : modifiedAt > since * 1000
}

/** The tags of a list, weak or strong. A tag may contain a comma. */
function tagsIn(list: string): string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? []
}

// Twenty digits hold every 64-bit number; some clients send the greatest one for "to the end".
const SINGLE_RANGE = /^bytes=(\d{0,20})-(\d{0,20})$/i

/**
 * The part of a file that a Range header selects (RFC 9110, 14.1.2). A server may ignore the header: this one ignores
 * several ranges, other units and malformed ranges, and answers the whole file.
 */
export function readRange(header: string | undefined, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  const [, first = '', last = ''] = SINGLE_RANGE.exec(header ?? '') ?? []
  if (first === '') return last === '' ? 'whole' : suffix(Number(last), size)
  // Such large numbers are the same as their neighbours unless they are compared as they are.
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  const start = Number(first)
  const end = last === '' ? Number.POSITIVE_INFINITY : Number(last)
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

function suffix(length: number, size: number): ByteRange | 'whole' | 'unsatisfiable' {
  if (length === 0) return 'unsatisfiable'
  // The suffix of an empty file is the whole file, which no Content-Range can express.
  return size === 0 ? 'whole' : { start: Math.max(size - length, 0), end: size - 1 }
}

/**
 * Whether the Range header applies: always without If-Range, otherwise only if the tag is strong and the same. A date is
 * never good enough: a file may change twice within its second.
 */
export function isRangeStillGood(ifRange: string | undefined, { etags }: Validators): boolean {
  return ifRange === undefined || etags.includes(ifRange.trim())
}
