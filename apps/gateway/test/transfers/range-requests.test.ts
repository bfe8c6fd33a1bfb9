import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readRange } from '../../src/transfers/range-requests.ts'

const GIB = 2 ** 30

describe('byte ranges', () => {
  it.each([
    ['bytes=0-0', 10, { start: 0, end: 0 }],
    ['bytes=0-9', 10, { start: 0, end: 9 }],
    ['bytes=2-5', 10, { start: 2, end: 5 }],
    ['bytes=9-9', 10, { start: 9, end: 9 }],
    ['bytes=0-', 10, { start: 0, end: 9 }],
    ['bytes=9-', 10, { start: 9, end: 9 }],
    ['bytes=5-10', 10, { start: 5, end: 9 }],
    ['bytes=5-18446744073709551615', 10, { start: 5, end: 9 }],
    ['bytes=-1', 10, { start: 9, end: 9 }],
    ['bytes=-10', 10, { start: 0, end: 9 }],
    ['bytes=-11', 10, { start: 0, end: 9 }],
    ['bytes=-99999999999999999999', 10, { start: 0, end: 9 }],
    ['bytes=002-005', 10, { start: 2, end: 5 }],
    ['Bytes=2-5', 10, { start: 2, end: 5 }],
    [`bytes=${5 * GIB}-`, 6 * GIB, { start: 5 * GIB, end: 6 * GIB - 1 }],
    ['bytes=9007199254740990-', Number.MAX_SAFE_INTEGER, { start: 2 ** 53 - 2, end: 2 ** 53 - 2 }],
  ])('ADD-06 %s of %d bytes', (header, size, range) => {
    expect(readRange(header, size)).toEqual(range)
  })

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-10', 10],
    ['bytes=10-20', 10],
    ['bytes=99999999999999999999-', 10],
    ['bytes=18446744073709551615-18446744073709551615', 10],
    ['bytes=-0', 10],
    ['bytes=-0', 0],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
    ['bytes=1-', 0],
  ])('ADD-06 %s lies outside of %d bytes', (header, size) => {
    expect(readRange(header, size)).toBe('unsatisfiable')
  })

  it.each([
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=--1',
    'bytes=5-2',
    'bytes=0-1,2-3',
    'bytes=0-1, -1',
    'bytes=0-,0-,0-,0-',
    'bytes=0-1,',
    'bytes=a-b',
    'bytes=0x0-0x5',
    'bytes=1e1-',
    'bytes=0.5-2',
    'bytes=+0-2',
    'bytes=0-2-4',
    'bytes= 0-2',
    'bytes =0-2',
    'bytes=0 - 2',
    'bytes=0-2\n',
    'bytes=\u0660-\u0662',
    'bytes:0-2',
    'items=0-2',
    'bytes=0-2 junk',
    'xbytes=0-2',
    'byte\u017f=0-2',
  ])('ADD-06 %j is ignored', (header) => {
    expect(readRange(header, 10)).toBe('whole')
  })

  it('ADD-06 numbers of absurd length are ignored, not computed', () => {
    const nines = '9'.repeat(100_000)
    const zeros = '0'.repeat(15_000)
    for (const range of [`${'9'.repeat(21)}-`, `0-${nines}`, `${nines}-`, `-${nines}`, `-${zeros}`, `${zeros}5-7`]) {
      expect(readRange(`bytes=${range}`, 10)).toBe('whole')
    }
  })

  it('ADD-06 the last bytes of an empty file are the whole of it', () => {
    expect(readRange('bytes=-5', 0)).toBe('whole')
    expect(readRange(undefined, 0)).toBe('whole')
  })

  it('ADD-06 a range names the bytes that a slice takes', () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(bytes, fc.nat(40), fc.nat(40), (file, a, b) => {
        const [from, to] = a < b ? [a, b] : [b, a]
        expect(taken(file, `bytes=${from}-${to}`)).toEqual(file.slice(from, to + 1))
        expect(taken(file, `bytes=${from}-`)).toEqual(file.slice(from))
        expect(taken(file, `bytes=-${from}`)).toEqual(from === 0 ? file.slice(0, 0) : file.slice(-from))
      }),
    )
  })

  it('ADD-06 no header gets beyond the file', () => {
    const piece = fc.oneof(fc.constantFrom('bytes', '=', '-', ',', ' ', '0', '9'), fc.nat().map(String), fc.string())
    const header = fc.oneof(
      fc.array(piece).map((pieces) => `bytes=${pieces.join('')}`),
      fc.tuple(fc.bigInt({ min: 0n }), fc.bigInt({ min: 0n })).map(([from, to]) => `bytes=${from}-${to}`),
    )
    fc.assert(
      fc.property(header, fc.maxSafeNat(), (text, size) => {
        const range = readRange(text, size)
        if (typeof range === 'string') return
        expect(Number.isSafeInteger(range.start) && Number.isSafeInteger(range.end)).toBe(true)
        expect(0 <= range.start && range.start <= range.end && range.end < size).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })
})

/** The bytes that a header selects; none when it selects nothing. */
function taken(file: Uint8Array, header: string): Uint8Array {
  const range = readRange(header, file.length)
  if (range === 'whole') return file
  return range === 'unsatisfiable' ? new Uint8Array() : file.slice(range.start, range.end + 1)
}
