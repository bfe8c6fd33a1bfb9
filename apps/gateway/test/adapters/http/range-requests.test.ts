import { problemWith } from '@svc/devnet/properties/made-up-input'
import { json, latin1, must, mustEqual } from '@svc/devnet/properties/rules'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  checkConditions,
  isRangeApplicable,
  needsOurTags,
  readRange,
  type Validators,
} from '../../../src/adapters/http/range-requests.ts'

const GIB = 2 ** 30
const HASH = 'sha256:e3b0c442'
const ETAG = `"${HASH}"`
const opaque = fc.string({ unit: fc.constantFrom(...'aZ0,:;/\\!#é~W*'), maxLength: 12 })

it.each([
  ['bytes=5-18446744073709551615', 10, { start: 5, end: 9 }],
  ['bytes=-99999999999999999999', 10, { start: 0, end: 9 }],
  ['bytes=002-005', 10, { start: 2, end: 5 }],
  ['Bytes=2-5', 10, { start: 2, end: 5 }],
  [`bytes=${5 * GIB}-`, 6 * GIB, { start: 5 * GIB, end: 6 * GIB - 1 }],
  ['bytes=9007199254740990-', Number.MAX_SAFE_INTEGER, { start: 2 ** 53 - 2, end: 2 ** 53 - 2 }],
])('ADD-06 %s selects a range of %d bytes', (header, size, range) => {
  expect(readRange(header, size)).toEqual(range)
})

it.each([
  ['bytes=10-', 10],
  ['bytes=99999999999999999999-', 10],
  ['bytes=18446744073709551615-18446744073709551615', 10],
  ['bytes=-0', 10],
  ['bytes=-0', 0],
  ['bytes=0-', 0],
])('ADD-06 %s is unsatisfiable for %d bytes', (header, size) => {
  expect(readRange(header, size)).toBe('unsatisfiable')
})

it.each([
  undefined,
  '',
  'bytes=-',
  'bytes=5-2',
  'bytes=0-1,2-3',
  'bytes=+0-2',
  'bytes=0-2\n',
  'bytes=\u0660-\u0662',
  'byte\u017f=0-2',
  'bytes=18446744073709551616-18446744073709551615',
])('ADD-06 the gateway ignores the Range header %j', (header) => {
  expect(readRange(header, 10)).toBe('whole')
})

it('ADD-06 the gateway ignores ranges with numbers of more than twenty digits', () => {
  const nines = '9'.repeat(100_000)
  const zeros = '0'.repeat(15_000)
  for (const range of [`${'9'.repeat(21)}-`, `0-${nines}`, `${nines}-`, `-${nines}`, `-${zeros}`, `${zeros}5-7`])
    expect(readRange(`bytes=${range}`, 10)).toBe('whole')
})

it('ADD-06 a suffix of an empty file selects the whole file', () => {
  expect(readRange('bytes=-5', 0)).toBe('whole')
  expect(readRange(undefined, 0)).toBe('whole')
})

it('ADD-06 a range selects the same bytes as a slice', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 30 })
  fc.assert(
    fc.property(bytes, fc.nat(40), fc.nat(40), (file, a, b) => {
      const [from, to] = a < b ? [a, b] : [b, a]
      expect(selected(file, `bytes=${from}-${to}`)).toEqual(file.slice(from, to + 1))
      expect(selected(file, `bytes=${from}-`)).toEqual(file.slice(from))
      expect(selected(file, `bytes=-${from}`)).toEqual(from === 0 ? file.slice(0, 0) : file.slice(-from))
    }),
  )
})

it('ADD-06 T-129 no made-up input breaks the rules of the Range header', async () => {
  expect(
    await problemWith({
      examples: [
        '10 bytes=0-0',
        '10 bytes=2-',
        '10 bytes=-3',
        '0 bytes=-1',
        '9007199254740991 bytes=5-18446744073709551615',
      ],
      words: [...'bytes= Bytes= - , -- 0 00 99999999999999999999 items= \t +1 1e3 0x1'.split(' '), ' '],
      maxBytes: 8192,
      rule(input) {
        const line = latin1(input)
        const [, digits = '0', header = line] = /^(\d{1,15}) (.*)$/s.exec(line) ?? []
        const size = Number(digits)
        mustEqual(readRange(header, size), rangeModel(header, size), 'the range differs from RFC 9110')
      },
    }),
  ).toBeNull()
})

it.each([
  undefined,
  '',
  HASH,
  ETAG.toUpperCase(),
  `"a,${HASH}"`,
  '"*"',
  `*, "a"`,
  'Wed, 21 Oct 2026 07:28:00 GMT',
  '""""",',
])('ADD-06 If-None-Match %j does not match the tag', (header) => {
  expect(isNotModified(header, ETAG)).toBe(false)
})

it('ADD-06 a file without a tag matches only the asterisk', () => {
  expect(isNotModified(ETAG, null)).toBe(false)
  expect(isNotModified('""', null)).toBe(false)
  expect(isNotModified('*', null)).toBe(true)
})

it('ADD-06 a list in If-None-Match matches exactly its tags', () => {
  const tag = fc.tuple(fc.constantFrom('', 'W/'), opaque).map(([weak, text]) => `${weak}"${text}"`)
  const separator = fc.constantFrom(',', ', ', ' ,\t', ',,')
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1 }), separator, opaque, (tags, between, other) => {
      const header = tags.join(between)
      for (const one of tags) expect(isNotModified(header, one.replace(/^W\//, ''))).toBe(true)
      const isListed = tags.some((one) => one.replace(/^W\//, '') === `"${other}"`)
      expect(isNotModified(header, `"${other}"`)).toBe(isListed)
    }),
  )
})

it('ADD-06 a range applies without If-Range, and when it has the same tag', () => {
  expect(isRangeApplicable(undefined, validators(ETAG))).toBe(true)
  expect(isRangeApplicable(undefined, validators(null))).toBe(true)
  expect(isRangeApplicable(` ${ETAG}`, validators(ETAG))).toBe(true)
})

const OTHER_RANGES = [
  '',
  '*',
  HASH,
  '"a"',
  `W/${ETAG}`,
  `${ETAG}, ${ETAG}`,
  ETAG.toUpperCase(),
  'Wed, 21 Oct 2026 07:28:00 GMT',
]
it.each(OTHER_RANGES)('ADD-06 a range does not apply when If-Range is %j', (header) => {
  expect(isRangeApplicable(header, validators(ETAG))).toBe(false)
  expect(isRangeApplicable(header, validators(null))).toBe(false)
})

const AT = Date.UTC(2026, 8, 1, 12)
const date = (ms: number) => new Date(ms).toUTCString()
const file: Validators = { etags: [ETAG, '"object:1"'], modifiedAt: AT }

it.each([ETAG, '"object:1"', `"a", ${ETAG}`, '*'])('ADD-06 If-Match %s is met', (match) => {
  expect(checkConditions({ 'if-match': match }, file)).toBe('met')
})

it.each(['', '"a"', `W/${ETAG}`, HASH, '"*"'])('ADD-06 If-Match %j fails', (match) => {
  expect(checkConditions({ 'if-match': match }, file)).toBe('failed')
})

it('ADD-06 If-Unmodified-Since fails for a newer file, to the second', () => {
  const since = (ms: number) => checkConditions({ 'if-unmodified-since': date(ms) }, file)
  expect([since(AT - 1000), since(AT), since(AT + 1000)]).toEqual(['failed', 'met', 'met'])
  expect(checkConditions({ 'if-unmodified-since': 'yesterday' }, file)).toBe('met')
  expect(checkConditions({ 'if-unmodified-since': date(0) }, { ...file, modifiedAt: null })).toBe('met')
})

const DATES = ['Tue, 01 Sep 2026 11:59:59 GMT', 'Tuesday, 01-Sep-26 11:59:59 GMT', 'Tue Sep  1 11:59:59 2026']
it.each(DATES)('T-129 %s is a date, in every time zone', (text) => {
  expect(checkConditions({ 'if-unmodified-since': text }, file)).toBe('failed')
  expect(checkConditions({ 'if-unmodified-since': text.replace(':59:59', ':00:00').replace('11', '12') }, file)).toBe(
    'met',
  )
})

it.each([
  '2026-09-01T11:59:59Z',
  'Tue, 01 Sep 2026 11:59:59',
  'Mon, 01 Sep 2026 11:59:59 GMT',
  'Tue Sep 01 11:59:59 2026',
  'Tunesday, 01-Sep-26 11:59:59 GMT',
  'Thu, 31 Apr 2026 00:00:00 GMT',
  'tag 1',
])('T-129 %j is not an HTTP date and is ignored', (text) => {
  expect(checkConditions({ 'if-unmodified-since': text }, file)).toBe('met')
})

it('ADD-06 If-Modified-Since fails for a file that is not newer', () => {
  const since = (ms: number) => checkConditions({ 'if-modified-since': date(ms) }, file)
  expect([since(AT - 1000), since(AT), since(AT + 1000)]).toEqual(['met', 'not-modified', 'not-modified'])
  expect(checkConditions({ 'if-modified-since': 'x' }, file)).toBe('met')
})

it('ADD-06 a tag takes precedence over a date, and If-Match over If-None-Match', () => {
  const old = date(AT - 1000)
  expect(checkConditions({ 'if-match': ETAG, 'if-unmodified-since': old }, file)).toBe('met')
  expect(checkConditions({ 'if-none-match': '"a"', 'if-modified-since': date(AT) }, file)).toBe('met')
  expect(checkConditions({ 'if-match': '"a"', 'if-none-match': ETAG }, file)).toBe('failed')
  expect(checkConditions({ 'if-match': ETAG, 'if-none-match': ETAG }, file)).toBe('not-modified')
})

const CONDITIONS = ['if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since', 'if-range']

it('ADD-06 T-129 no made-up input breaks the rules of conditional requests', async () => {
  expect(
    await problemWith({
      examples: [
        JSON.stringify({ 'if-match': `"a", ${ETAG}`, 'if-range': ETAG }),
        JSON.stringify({ 'if-none-match': `W/${ETAG}, "b,c"`, 'if-modified-since': 'Tue, 01 Sep 2026 12:00:00 GMT' }),
        JSON.stringify({ 'if-none-match': '*', 'if-unmodified-since': 'Tue, 01 Sep 2026 11:59:59 GMT' }),
      ],
      words: ['*', 'W/', 'w/', '"', ',', ', ', ETAG, '"object:1"', 'Tue, 01 Sep 2026 12:00:00 GMT', ...CONDITIONS],
      isJson: true,
      rule(input) {
        const given = json(input)
        if (typeof given !== 'object' || given === null) return
        const headers = Object.fromEntries(
          Object.entries(given).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
        )
        const validators = { etags: [ETAG], modifiedAt: AT }
        const outcome = checkConditions(headers, validators)
        must(['met', 'not-modified', 'failed'].includes(outcome), 'the outcome is unknown')
        const match = headers['if-match']
        const hasStrong =
          match?.trim() === '*' ||
          match?.split(ETAG).some((before, i, all) => i < all.length - 1 && !before.endsWith('W/'))
        if (match !== undefined && !hasStrong) must(outcome === 'failed', 'If-Match is met without the tag')
        if (!CONDITIONS.slice(0, 4).some((name) => name in headers))
          must(outcome === 'met', 'fails without a condition')
        const range = headers['if-range']
        must(
          isRangeApplicable(range, validators) === (range === undefined || range.trim() === ETAG),
          'the If-Range outcome is wrong',
        )
        needsOurTags(headers)
      },
    }),
  ).toBeNull()
})

const validators = (tag: string | null): Validators => ({ etags: tag === null ? [] : [tag], modifiedAt: null })

function isNotModified(header: string | undefined, tag: string | null): boolean {
  return checkConditions(header === undefined ? {} : { 'if-none-match': header }, validators(tag)) === 'not-modified'
}

/** The bytes that a header selects; none when it is ignored. */
function selected(file: Uint8Array, header: string): Uint8Array {
  const range = readRange(header, file.length)
  if (range === 'whole') return file
  return range === 'unsatisfiable' ? new Uint8Array() : file.slice(range.start, range.end + 1)
}

/** RFC 9110, 14.1.2, with exact integers. Null unless it is one byte range of at most twenty digits a number. */
function rangeModel(header: string, size: number): ReturnType<typeof readRange> {
  const [unit = '', set = '', ...more] = header.split('=')
  const bounds = set.split('-')
  const allNumbers = bounds.every(
    (digits) => digits.length <= 20 && [...digits].every((digit) => '0123456789'.includes(digit)),
  )
  const isBytes = [...unit].every((char) => char.charCodeAt(0) < 128) && unit.toLowerCase() === 'bytes'
  if (!isBytes || more.length > 0 || bounds.length !== 2 || !allNumbers) return 'whole'
  const [first = '', last = ''] = bounds
  if (first === '' && last === '') return 'whole'
  const length = BigInt(size)
  if (first === '') {
    if (BigInt(last) === 0n) return 'unsatisfiable'
    if (size === 0) return 'whole'
    const start = length - BigInt(last)
    return { start: Number(start < 0n ? 0n : start), end: size - 1 }
  }
  if (last !== '' && BigInt(last) < BigInt(first)) return 'whole'
  if (BigInt(first) >= length) return 'unsatisfiable'
  const end = last === '' || BigInt(last) >= length ? length - 1n : BigInt(last)
  return { start: Number(first), end: Number(end) }
}
