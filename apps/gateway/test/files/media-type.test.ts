import { validateHeaderValue } from 'node:http'
import { MIMEType } from 'node:util'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { must, text } from '@svc/devnet/properties/rules'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isSameMediaType, mediaTypeProblem } from '../../src/files/media-type.ts'

const FORM = "must have the form 'type/subtype', with parameters as in '; charset=utf-8'"

const token = fc.string({ unit: fc.constantFrom(..."!#$%&'*+.^_`|~09azAZ-"), minLength: 1, maxLength: 8 })
const quoted = fc
  .string({ unit: fc.constantFrom(...'a Z;=,/"\\<>()@?[]:{}~!'), maxLength: 8 })
  .map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`)
const around = fc.constantFrom('', ' ', '  ')
const parameter = fc
  .tuple(around, around, token, fc.oneof(token, quoted))
  .map(([before, after, name, value]) => `${before};${after}${name}=${value}`)
const mediaType = fc
  .tuple(token, token, fc.array(parameter, { maxLength: 4 }))
  .map(([type, subtype, parameters]) => `${type}/${subtype}${parameters.join('')}`)

it.each([
  ['', FORM],
  [' text/plain', FORM],
  ['text/plain, text/html', FORM],
  ['text/plain;', FORM],
  ['text/plain; a = b', FORM],
  ['text/plain; a="b"c', FORM],
  ['text/plain; a="b\\"', FORM],
  ['text/plain\r\nset-cookie: a=b', 'must be printable ASCII'],
  ['text/plain;\tcharset=utf-8', 'must be printable ASCII'],
  ['text/plain; a="\0"', 'must be printable ASCII'],
  ['text/\ud800', 'must be printable ASCII'],
])('FILE-09 T-30 the media type %j is refused', (text, problem) => {
  expect(mediaTypeProblem(text)).toBe(problem)
})

it('FILE-09 a media type of more than 255 characters is refused', () => {
  expect(mediaTypeProblem(`a/${'b'.repeat(253)}`)).toBeNull()
  expect(mediaTypeProblem(`a/${'b'.repeat(254)}`)).toBe('must be at most 255 characters')
  expect(mediaTypeProblem(`a/b; c="${'\\"'.repeat(500_000)}`)).toBe('must be at most 255 characters')
})

it('FILE-09 all media types that the grammar generates are accepted, and parsed alike by the platform', () => {
  fc.assert(
    fc.property(mediaType, (text) => {
      expect(mediaTypeProblem(text)).toBeNull()
      expect(new MIMEType(text).essence).toBe(text.split(';', 1)[0]?.trim().toLowerCase())
    }),
  )
})

it('T-30 T-129 no made-up input breaks the rules of media types', async () => {
  expect(
    await problemWith({
      examples: ['text/plain', 'text/plain; charset="utf-8"', 'a/b; c="d\\"; e"; f=g'],
      words: ['\r\n', '\0', '\t', ';', '; ', '=', '"', '\\', '/', ',', 'é', '\u{1f600}'],
      rule(input) {
        const given = text(input)
        isSameMediaType('text/plain; charset="utf-8"', given)
        if (mediaTypeProblem(given) !== null) return
        must(/^[\x20-\x7e]+$/.test(given), 'accepts a type that is not printable ASCII')
        validateHeaderValue('content-type', given)
        must(isSameMediaType(given, given), 'a media type differs from itself')
      },
    }),
  ).toBeNull()
})

it.each([
  ['text/plain', 'TEXT/Plain'],
  ['text/plain; charset=utf-8', 'text/plain;charset=UTF-8'],
  ['text/plain;charset=utf-8', 'text/plain \t;\t CHARSET="Utf-8"'],
  ['a/b; Version=1; x=y', 'a/b;version=1;X=y'],
  ['a/b; c="d e"', 'a/b; c="d\\ e"'],
])('SHORT-06 the locked type %j matches %j', (locked, sent) => {
  expect(isSameMediaType(locked, sent)).toBe(true)
  expect(isSameMediaType(sent, locked)).toBe(true)
})

it.each([
  ['text/plain', undefined],
  ['text/plain', 'text/html'],
  ['text/plain', 'text/plain, text/plain'],
  ['text/plain; charset=utf-8', 'text/plain'],
  ['a/b; version=A', 'a/b; version=a'],
  ['a/b; c=d; e=f', 'a/b; e=f; c=d'],
  ['a/b; c="d;e=f"', 'a/b; c="d"; e=f'],
  ['a/b; c="d\\"; e=\\""', 'a/b; c="d"; e=""'],
  ['no type', 'not a type'],
])('SHORT-06 the locked type %j does not match %j', (locked, sent) => {
  expect(isSameMediaType(locked, sent)).toBe(false)
})

it('SHORT-06 letter case of names and space around ";" never matter; another parameter always does', () => {
  fc.assert(
    fc.property(token, token, fc.array(fc.tuple(token, quoted)), (type, subtype, pairs) => {
      const spelled = (between: string, letters: (text: string) => string) =>
        letters(`${type}/${subtype}`) + pairs.map(([name, value]) => `${between}${letters(name)}=${value}`).join('')
      const locked = spelled('; ', (text) => text)
      const other = spelled(' ;', (text) => text.toUpperCase())
      expect(isSameMediaType(locked, other)).toBe(true)
      expect(isSameMediaType(locked, `${locked}; x=y`)).toBe(false)
    }),
  )
})
