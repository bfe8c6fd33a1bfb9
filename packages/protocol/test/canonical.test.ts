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
  it('EVID-06 equals that of JSON.stringify for any well-formed text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(canonicalJson(text)).toBe(JSON.stringify(text))
        expect(canonicalJsonV1({ [text]: text })).toBe(JSON.stringify({ [text]: text }))
      }),
    )
  })

  it('EVID-06 is the text in quotes exactly if isPlainText is true, for every code unit', () => {
    const texts = Array.from({ length: 0x10000 }, (_, code) => `a${String.fromCharCode(code)}b`)
    const isWrong = (text: string) => isPlainText(text) !== (JSON.stringify(text) === `"${text}"`)
    expect(texts.filter(isWrong)).toEqual([])
  })

  it('EVID-05 does not depend on the keys of the previous object in a list', () => {
    const object = fc.dictionary(fc.constantFrom('a', 'b', 'c', '\ud83d\ude00', '\uffff'), fc.integer())
    const nested = fc.oneof(object, fc.dictionary(fc.constantFrom('a', 'b'), object))
    fc.assert(
      fc.property(fc.array(nested), (list) => {
        for (const write of [canonicalJson, canonicalJsonV1]) {
          expect(write(list)).toBe(`[${list.map((item) => write(item))}]`)
        }
      }),
    )
  })

  it('EVID-06 fails with the path of a value that has no canonical form', () => {
    expect(() => canonicalJson({ a: { b: [1, { c: 0.5 }] } })).toThrow('$.a.b.c: not an integer')
    expect(() => canonicalJson(0.5)).toThrow('$: not an integer')
    expect(() => canonicalJson({ a: { '\ud800': 1 } })).toThrow('$.a.\ud800: lone surrogate')
  })
})
