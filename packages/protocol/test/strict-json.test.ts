import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { utf8 } from '../src/bytes.ts'
import { canonicalJson, type Json } from '../src/canonical.ts'
import { parseStrictJson, StrictJsonError } from '../src/strict-json.ts'

const LIMIT = 1_000_000
/** V8's JSON.parse (13.6) may confuse a key that has a quote in it with another that it saw in the same place. */
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

  it('ENV-23 reads a text in its plain form and in any other form the same way', { tags: ['nightly'] }, () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"b"',
      '"__proto__"',
      '0',
      '-0',
      '1e999',
      'null',
      '\\',
    )
    const almostJson = fc.array(piece, { maxLength: 9 }).map((pieces) => pieces.join(''))
    const twice = fc.json().map((text) => `{"a":${text},"b":0,"a":${text}}`)
    const deep = fc.nat({ max: 40 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth))
    fc.assert(
      fc.property(
        fc.oneof(fc.json(), almostJson, twice, deep),
        fc.constantFrom(1, 3, 10, Infinity),
        (text, maxValues) => {
          // A leading space makes no difference, except that the text is not plain.
          expect(verdict(text, maxValues)).toEqual(verdict(` ${text}`, maxValues))
        },
      ),
      { numRuns: 2000 },
    )
  })

  it('agrees with JSON.parse on what is not JSON', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      'a',
      '0',
      '-',
      '.',
      'e',
      'true',
      'null',
      ' ',
      '\n',
      '\u0001',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
        const text = parts.join('')
        expect(accepts(() => parseStrictJson(text, LIMIT))).toBe(accepts(() => JSON.parse(text)))
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a duplicate key in another spelling', '{"a":1,"\\u0061":2}'],
    ['a duplicate __proto__', '{"__proto__":1,"__proto__":2}'],
    ['nesting of 33', '['.repeat(33) + ']'.repeat(33)],
    ['nesting of a million', '['.repeat(999_999)],
    ['a byte order mark', '\ufeff{}'],
    ['a number beyond a double', '1e400'],
    ['text after the end', '{} {}'],
    ['a comment', '{/**/}'],
    ['a raw control character', '"\u0000"'],
    ['a trailing comma', '[1,]'],
    ['NaN', 'NaN'],
    ['nothing', ''],
  ])('ENV-23 refuses %s', (_, text) => {
    expect(() => parseStrictJson(text, LIMIT)).toThrow(StrictJsonError)
  })

  it('accepts nesting of 32', () => {
    expect(() => parseStrictJson('['.repeat(32) + ']'.repeat(32), LIMIT)).not.toThrow()
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

  it('EVID-05 reads canonical text back to the same canonical text', { tags: ['nightly'] }, () => {
    const integers = fc.maxSafeInteger()
    const leaf = fc.oneof(
      fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed()),
      integers,
      fc.boolean(),
      fc.constant(null),
    )
    const keys = fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed())
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(tie('value')), fc.dictionary(keys, tie('value'))),
    }))
    fc.assert(
      fc.property(value, (any) => {
        const text = canonicalJson(any as Json)
        fc.pre(isReadRight(text))
        expect(canonicalJson(parseStrictJson(text, LIMIT))).toBe(text)
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(any)))
      }),
    )
  })
})

function verdict(text: string, maxValues: number) {
  try {
    return { value: parseStrictJson(text, LIMIT, maxValues) }
  } catch (error) {
    return { error: (error as StrictJsonError).message.replace(/ at character \d+$/, '') }
  }
}

function accepts(parse: () => unknown): boolean {
  try {
    parse()
    return true
  } catch {
    return false
  }
}
