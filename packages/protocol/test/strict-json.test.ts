import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../src/bytes.ts'
import type { Json } from '../src/canonical.ts'
import { parseStrictJson, type StrictJsonError } from '../src/strict-json.ts'

const LIMIT = 1_000_000
/** V8's JSON.parse (13.6) can confuse a key that contains a quote with an earlier key in the same position. */
const isReadRight = (text: string) => !text.includes('\\"')

describe('strict JSON', () => {
  it('ENV-23 agrees with JSON.parse on every JSON value', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        fc.pre(isReadRight(text))
        expect(parseStrictJson(text, LIMIT)).toEqual(JSON.parse(text))
        expect(parseStrictJson(utf8(text.toWellFormed()), LIMIT)).toEqual(JSON.parse(text.toWellFormed()))
      }),
    )
  })

  it('ENV-23 reads plain text and any other form of it in the same way', { tags: ['nightly'] }, () => {
    const piece = fc.constantFrom(...'{ } [ ] , : "a" "b" "__proto__" 0 -0 1e999 null \\'.split(' '))
    const almostJson = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
    const twice = fc.json().map((text) => `{"a":${text},"b":0,"a":${text}}`)
    const deep = fc.nat({ max: 40 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth))
    const texts = fc.oneof(fc.json(), almostJson, twice, deep)
    fc.assert(
      fc.property(texts, fc.constantFrom(1, 3, 10, Infinity), (text, maxValues) => {
        // A leading space changes only the path: the text is not plain any more.
        expect(verdict(text, maxValues)).toEqual(verdict(` ${text}`, maxValues))
      }),
      { numRuns: 2000 },
    )
  })

  it('refuses bytes that are not UTF-8, and more bytes than allowed', () => {
    expect(() => parseStrictJson(Uint8Array.of(0x22, 0xc3, 0x28, 0x22), LIMIT)).toThrow('not UTF-8')
    expect(() => parseStrictJson('[1,2]', 4)).toThrow('longer than 4 bytes')
  })

  it('keeps __proto__ as an ordinary property', () => {
    const value = parseStrictJson('{"__proto__":{"admin":true}}', LIMIT) as Record<string, Json>
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(value.admin).toBeUndefined()
  })

  it('reads a string of ten million characters', { tags: ['nightly'] }, () => {
    const long = 'x\\n'.repeat(5_000_000)
    expect((parseStrictJson(`"${long}"`, 20_000_000) as string).length).toBe(10_000_000)
  })
})

function verdict(text: string, maxValues: number) {
  try {
    return { value: parseStrictJson(text, LIMIT, maxValues) }
  } catch (error) {
    return { error: (error as StrictJsonError).message.replace(/ at character \d+$/, '') }
  }
}
