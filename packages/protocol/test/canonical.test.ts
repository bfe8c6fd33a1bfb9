import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson, canonicalJsonV1, isPlainText } from '../src/canonical.ts'

const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('"', '\\', '/', 'a', ' ', '~', '\x1f', '\x7f', '\u2028', '\ud7ff', '\ue000', '😀'),
  }),
)

describe('canonical text', () => {
  it('EVID-06 is that of JSON.stringify for any well-formed text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(canonicalJson(text)).toBe(JSON.stringify(text))
        expect(canonicalJsonV1({ [text]: text })).toBe(JSON.stringify({ [text]: text }))
      }),
    )
  })

  it('EVID-06 is the text between quotes exactly when isPlainText says so, for ASCII', () => {
    for (let code = 0; code < 0x80; code++) {
      const text = `a${String.fromCharCode(code)}b`
      // DEL needs no escape either, but it is rare.
      expect([code, isPlainText(text)]).toEqual([code, code !== 0x7f && JSON.stringify(text) === `"${text}"`])
    }
  })

  it('EVID-06 refuses lone surrogates wherever they stand', () => {
    for (const text of ['\ud800', 'a\udfff', '\ude00\ud83d', '\ud83d\ud83d\ude00']) {
      expect(() => canonicalJson(text)).toThrow('lone surrogate')
      expect(() => canonicalJson({ [text]: 1 })).toThrow('lone surrogate')
    }
  })
})
