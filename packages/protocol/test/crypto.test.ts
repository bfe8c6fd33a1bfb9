import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex, sha256Stream } from '#crypto'
import { utf8 } from '../src/bytes.ts'

describe('SHA-256', () => {
  it('MERK-01 of text is that of its UTF-8, in one piece or many', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 10 }), (pieces) => {
        const [ofText, ofBytes] = [sha256Stream(), sha256Stream()]
        for (const piece of pieces) {
          ofText.update(piece)
          ofBytes.update(utf8(piece))
        }
        const whole = sha256Hex(pieces.join(''))
        expect([ofText.hex(), ofBytes.hex()]).toEqual([whole, sha256Hex(utf8(pieces.join('')))])
        expect(sha256Hex(utf8(pieces.join('')))).toBe(whole)
      }),
    )
  })

  it('MERK-01 refuses text that has no UTF-8', () => {
    expect(() => sha256Hex('a\ud800')).toThrow('lone surrogate')
    expect(() => sha256Stream().update('a\ud800')).toThrow('lone surrogate')
  })
})
