import fc from 'fast-check'
import { expect, it } from 'vitest'
import { readExpectedHash } from '../../src/files/name-files.ts'

const hex = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const anyHex = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 64, maxLength: 64 })

it('AMB-73 an expected hash is the same with and without prefix, in upper and lower case', () => {
  fc.assert(
    fc.property(fc.mixedCase(anyHex), fc.mixedCase(fc.constant('sha256:')), (spelled, prefix) => {
      const canonical = `sha256:${spelled.toLowerCase()}`
      expect(readExpectedHash(spelled)).toBe(canonical)
      expect(readExpectedHash(prefix + spelled)).toBe(canonical)
    }),
  )
})

it.each([
  ['no text', ''],
  ['65 digits', `0${hex}`],
  ['no hex', `g${hex.slice(1)}`],
  ['another algorithm', `sha512:${hex}`],
  ['two prefixes', `sha256:sha256:${hex}`],
  ['space within', `sha256: ${hex}`],
  ['a line break after', `${hex}\n`],
  ['a letter that folds to s', `\u017fha256:${hex}`],
  ['digits of another script', '\u0661'.repeat(64)],
  ['a million digits', '0'.repeat(1_000_000)],
])('AMB-73 an expected hash of %s is refused', (_, text) => {
  expect(readExpectedHash(text)).toBeNull()
})
