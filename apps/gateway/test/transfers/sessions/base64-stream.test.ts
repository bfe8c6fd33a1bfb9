import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { base64Decoder } from '../../../src/transfers/sessions/base64-stream.ts'

/** All pieces together; null as soon as one is refused. */
function decode(...pieces: string[]): Buffer | null {
  const decoder = base64Decoder()
  const decoded = [...pieces.map((piece) => decoder.feed(piece)), decoder.end()]
  return decoded.includes(null) ? null : Buffer.concat(decoded as Buffer[])
}

describe('base64 in pieces', () => {
  it('SHAPE-28 gives the bytes back, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 6 }), (bytes, cuts) => {
        const text = Buffer.from(bytes).toString('base64')
        const ends = [...cuts.filter((cut) => cut < text.length).toSorted((a, b) => a - b), text.length]
        const pieces = ends.map((end, i) => text.slice(ends[i - 1] ?? 0, end))
        expect(decode(...pieces)).toEqual(Buffer.from(bytes))
      }),
    )
  })

  it('T-11 takes one text for one byte string: whatever is accepted encodes to itself', () => {
    const alphabet = fc.constantFrom(...'AQgwZ09+/=-_ \n\t\\"é')
    fc.assert(
      fc.property(fc.array(fc.string({ unit: alphabet, maxLength: 9 }), { maxLength: 4 }), (pieces) => {
        const bytes = decode(...pieces)
        if (bytes) expect(bytes.toString('base64')).toBe(pieces.join(''))
      }),
      { numRuns: 5000 },
    )
  })

  it.each([
    ['white space', 'QUJD RERE'],
    ['a line break at its end', 'QUJD\n'],
    ['the alphabet of URLs', 'QUJD_-__QUJD'],
    ['no padding', 'QUI'],
    ['too much padding', 'QUI=='],
    ['padding alone', '===='],
    ['padding in between', 'QUI=QUJD'],
    ['stray bits in the last character', 'QUJ='],
    ['a length that cannot be', 'QUJDR'],
    ['other characters', 'QUJDé===QUJD'],
  ])('T-11 refuses %s', (_, text) => {
    expect(decode(text)).toBeNull()
    expect(decode(...text)).toBeNull()
  })
})
