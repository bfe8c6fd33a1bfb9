// The cases and violations of each rule of the JSON grammar, generated from the rule. The expected result follows from
// how a text was made, never from a parser.

import { describe, expect, it } from 'vitest'
import { concat, fromHex, utf8 } from '../src/bytes.ts'
import { parseStrictJson, StrictJsonError } from '../src/strict-json.ts'

const LIMIT = 100_000
/** Longer texts never go to the engine's own parser. */
const LONG = ' '.repeat(5000)

/** Whether a text is read. This must not depend on its length or on white space. */
function isRead(text: string): boolean {
  const verdicts = [text, ` ${text}`, text + LONG, utf8(text.toWellFormed())].map(isParsed)
  if (new Set(verdicts).size !== 1) expect.fail(`${JSON.stringify(text)} is read in one form and refused in another`)
  return verdicts[0] as boolean
}

function isParsed(document: string | Uint8Array): boolean {
  try {
    parseStrictJson(document, LIMIT)
    return true
  } catch (error) {
    if (error instanceof StrictJsonError) return false
    throw error
  }
}

/** The texts with an unexpected verdict. */
function wrong<T>(cases: Iterable<readonly [T, boolean]>, read: (document: T) => boolean): T[] {
  return [...cases].filter(([document, isGood]) => read(document) !== isGood).map(([document]) => document)
}

/** The good and the bad forms of each part. */
interface Parts {
  good: readonly string[]
  bad: readonly string[]
}

/** Every combination of good parts, and every combination with a single bad part. */
function combined(parts: readonly Parts[]): [string, boolean][] {
  return parts.reduce<[string, boolean][]>(
    (begun, { good, bad }) =>
      begun.flatMap(([start, isGood]) => [
        ...good.map((part): [string, boolean] => [start + part, isGood]),
        ...(isGood ? bad : []).map((part): [string, boolean] => [start + part, false]),
      ]),
    [['', true]],
  )
}

const NUMBERS = combined([
  { good: ['', '-'], bad: ['+', '--'] },
  { good: ['0', '7', '10'], bad: ['', '00', '07', '0x7', '٧'] },
  { good: ['', '.0', '.25'], bad: ['.', '.2.5', ';5', '.+5'] },
  { good: ['', 'e0', 'E1', 'e+2', 'E-2', 'e01'], bad: ['e', 'E+', 'e-', 'e1.5', 'ee1', 'e+-1', 'e٧'] },
  { good: [''], bad: ['n', 'f', '_0', '%'] },
]).filter(([text]) => text !== '')

const SPACES = [' ', '\t', '\n', '\r']
const NO_SPACES = [
  ...Array.from({ length: 0x21 }, (_, code) => String.fromCharCode(code)).filter((char) => !SPACES.includes(char)),
  ...'\x7f\x85\xa0\u1680\u2000\u200a\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff',
]

describe('the JSON grammar', () => {
  it('T-129 accepts every number of the grammar with its value, and no other', { tags: ['nightly'] }, () => {
    for (const [before, after] of [',', '[,]', '{"a":,}'].map((around) => around.split(',') as [string, string])) {
      const cases = NUMBERS.map(([text, isGood]) => [before + text + after, isGood] as const)
      expect(wrong(cases, isRead)).toEqual([])
    }
    for (const [text] of NUMBERS.filter(([, isGood]) => isGood))
      expect(Object.is(parseStrictJson(text, LIMIT), Number(text)), text).toBe(true)
    expect(isRead('1e308') && isRead('-1e308') && isRead('5e-324') && isRead('1e-999')).toBe(true)
    expect(isRead('1e309') || isRead('-1e309') || isRead(`1${'0'.repeat(309)}`)).toBe(false)
    for (const word of ['NaN', 'Infinity', '-Infinity', 'undefined', "'a'", 'a']) expect(isRead(word), word).toBe(false)
  })

  it('T-129 has three literals with one spelling each', () => {
    for (const word of ['true', 'false', 'null']) {
      const cut = Array.from(word, (_, i) => word.slice(0, i))
      const cased = Array.from(word, (char, i) => word.slice(0, i) + char.toUpperCase() + word.slice(i + 1))
      const others = [...cut, ...cased, `${word}${word}`, `${word}x`, `${word}\0`, `"${word}`]
      expect(wrong([[word, true] as const, ...others.map((text) => [text, false] as const)], isRead)).toEqual([])
    }
  })

  it('T-129 accepts every character in a string except controls, and only eight escapes', {
    tags: ['nightly'],
  }, () => {
    const raw = Array.from({ length: 0x250 }, (_, code): [string, boolean] => {
      const char = String.fromCharCode(code)
      return [`"a${char}c"`, code >= 0x20 && char !== '"' && char !== '\\']
    })
    const escaped = Array.from({ length: 0x250 }, (_, code): [string, boolean] => {
      const char = String.fromCharCode(code)
      return [`"a\\${char}c"`, '"\\/bfnrt'.includes(char)]
    })
    expect(wrong([...raw, ...escaped], isRead)).toEqual([])
    const digits = { good: ['0', '9', 'a', 'F'], bad: ['', 'g', ' ', '-', '٧'] }
    const hex = combined([{ good: ['\\u'], bad: ['\\U'] }, digits, digits, digits, digits])
    const quoted = hex.map(([text, isGood]) => [`"${text}."`, isGood] as const)
    expect(wrong(quoted, isRead)).toEqual([])
    expect(parseStrictJson('"\\u0041\\/\\b\\f\\n\\r\\t\\"\\\\\\ud83d\\uDE00"', LIMIT)).toBe('A/\b\f\n\r\t"\\😀')
    for (const open of ['"', '"a', '"\\', '"\\"', '"\\u', '"\\u00', '"a\\\\\\"', "'a'"])
      expect(isRead(open)).toBe(false)
  })

  it('T-129 reads an escaped lone surrogate, and does not merge it with its neighbours', () => {
    for (const text of ['\ud83d', '\ude00', '\ude00\ud83d', '\ud83d\ud83d\ude00', 'a\ud800b']) {
      const escaped = text.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      expect(parseStrictJson(`"${escaped}"`, LIMIT)).toBe(text)
    }
  })

  it('T-129 ENV-23 accepts only canonical UTF-8, without a byte order mark', () => {
    const inString = (hex: string) => isParsed(concat(utf8('["a'), fromHex(hex)!, utf8('b"]')))
    const edges = 'c280 dfbf e0a080 ed9fbf ee8080 efbfbf f0908080 f48fbfbf'.split(' ')
    expect(edges.filter((hex) => !inString(hex))).toEqual([])
    const cut = edges.flatMap((hex) => [hex.slice(0, -2), `${hex}80`])
    const tooLong = 'c080 c1bf e08080 e09fbf f0808080 f08fbfbf f888808080 fc8480808080'
    const noCharacter = 'eda080 edadbf edb080 edbfbf f4908080 f7bfbfbf'
    const strays = '80 bf c0 c1 f5 f8 fc fe ff'
    expect([...cut, ...`${tooLong} ${noCharacter} ${strays}`.split(' ')].filter(inString)).toEqual([])
    const whole = ['efbbbf7b7d', '7b7defbbbf', 'efbbbf', 'fffe5b0031005d00', '5b0031005d00', 'feff005b0031005d']
    expect(whole.filter((hex) => isParsed(fromHex(hex)!))).toEqual([])
  })

  it('T-129 accepts four kinds of white space, only between tokens', () => {
    const tokens = ['[', '1', ',', '{', '"a"', ':', 'null', '}', ']']
    const cases = [...SPACES, ...NO_SPACES].flatMap((char) =>
      Array.from({ length: tokens.length + 1 }, (_, at): [string, boolean] => [
        tokens.toSpliced(at, 0, char).join(''),
        SPACES.includes(char),
      ]),
    )
    expect(wrong(cases, isRead)).toEqual([])
    for (const text of ['1 2', 'tr ue', '- 1', '1 .5', '1e 5', '', ...SPACES, LONG])
      expect(isRead(text), text).toBe(false)
  })

  it('T-129 refuses a document with a missing, repeated, misplaced or truncated token', () => {
    const tokens = ['{', '"a"', ':', '[', '1', ',', 'true', ',', '{', '}', ']', ',', '"b"', ':', '"c"', '}']
    expect(isRead(tokens.join(''))).toBe(true)
    const broken = tokens.flatMap((token, at) => [
      tokens.toSpliced(at, 1),
      tokens.toSpliced(at, 0, token),
      tokens.toSpliced(at, 1, '#'),
      tokens.toSpliced(at, 0, '/**/'),
      ...(at === 0 ? [] : [tokens.slice(0, at), tokens.slice(at)]),
    ])
    // A repeated digit only makes another number.
    const good = '{"a":[11,true,{}],"b":"c"}'
    const cases = broken.map((parts) => [parts.join(''), parts.join('') === good] as const)
    expect(wrong(cases, isRead)).toEqual([])
  })

  it('T-129 accepts only white space after the end', () => {
    for (const document of ['1', '"a"', '[]', '{}', 'null']) {
      const cases = Array.from({ length: 256 }, (_, byte) => {
        const isGood = SPACES.includes(String.fromCharCode(byte)) || (document === '1' && byte >= 0x30 && byte <= 0x39)
        return [concat(utf8(document), Uint8Array.of(byte)), isGood] as const
      })
      expect(wrong(cases, isParsed)).toEqual([])
    }
  })

  it('T-129 accepts 32 levels of arrays and objects', () => {
    for (const [levels, open, close] of [
      [1, '[', ']'],
      [1, '{"a":', '}'],
      [2, '[{"a":', '}]'],
    ] as const) {
      const nested = (times: number) => `${open.repeat(times)}1${close.repeat(times)}`
      const read = [32 / levels, 32 / levels + 1, 3000].map((times) => isRead(nested(times)))
      expect(read).toEqual([true, false, false])
    }
  })

  it('T-129 refuses a duplicate key in an object, however it is written', () => {
    const spellings = (char: string) => {
      const escaped = char.replace(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      return [char, escaped, escaped.toUpperCase().replaceAll('\\U', '\\u')]
    }
    for (const char of ['a', 'é', 'ﬃ', '😀', '']) {
      for (const first of spellings(char)) {
        for (const second of spellings(char)) {
          expect(isRead(`{"${first}":1,"b":{"${second}":1}}`)).toBe(true)
          expect(isRead(`{"${first}":1,"b":0,"${second}":1}`), `${first} ${second}`).toBe(false)
          expect(isRead(`[{"b":{"${first}":{},"${second}":{}}}]`)).toBe(false)
        }
      }
    }
    const apart = ['1', '01', '1.0', 'a', 'A', 'é', 'e\u0301', '__proto__', 'constructor', 'toString', ' ', '\\u0000']
    expect(isRead(`{${apart.map((key) => `"${key}":0`).join(',')}}`)).toBe(true)
  })
})
