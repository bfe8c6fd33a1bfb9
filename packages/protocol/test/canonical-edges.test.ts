// Edge cases of RFC 8785: allowed numbers and keys, and their form. Orders are compared byte by byte.

import { describe, expect, it } from 'vitest'
import { utf8 } from '../src/bytes.ts'
import { CanonicalJsonError, canonicalJson, canonicalJsonV1, type Json } from '../src/canonical.ts'
import { parseStrictJson } from '../src/strict-json.ts'

const LARGEST = 2 ** 53 - 1

function written(value: Json): string | null {
  const [two, one] = [canonicalJson, canonicalJsonV1].map((write) => {
    try {
      return write(value)
    } catch (error) {
      if (error instanceof CanonicalJsonError) return null
      throw error
    }
  })
  expect(one).toBe(two)
  return two as string | null
}

describe('canonical numbers', () => {
  it('T-52 EVID-07 are the integers up to 2^53 - 1, in decimal digits', () => {
    for (let power = 0; power <= 53; power++) {
      for (const near of [-1, 0, 1]) {
        const value = 2 ** power + near
        if (value > LARGEST) continue
        expect([written(value), written(-value)]).toEqual([
          String(BigInt(value)),
          String(BigInt(value === 0 ? 0 : -value)),
        ])
      }
    }
    expect([written(0), written(-0), written(LARGEST), written(-LARGEST)]).toEqual([
      '0',
      '0',
      '9007199254740991',
      '-9007199254740991',
    ])
  })

  it('T-52 EVID-07 are never beyond 2^53, fractional, subnormal or infinite', () => {
    const large = [2 ** 53, 2 ** 53 + 2, 1e20, 999_999_999_999_999_900_000, 1e21, 1e22, 1e23, 2 ** 63, Number.MAX_VALUE]
    const small = [0.5, 0.1, 1.5, 1e-6, 1e-7, 2 ** -1022, 2 ** -1023, Number.MIN_VALUE, Number.EPSILON, 1 - 2 ** -53]
    const endless = [Number.POSITIVE_INFINITY, Number.NaN]
    for (const value of [...large, ...small, ...endless].flatMap((one) => [one, -one])) {
      expect([written(value), written([value]), written({ a: value })], String(value)).toEqual([null, null, null])
    }
  })

  it('T-52 EVID-07 have one form, however the input spells them', () => {
    const ofOne = ['1', '1.0', '1.000', '1e0', '1E+0', '1e-0', '10e-1', '0.1e1', '100E-2', '0.001e+3']
    const ofZero = ['0', '-0', '0.0', '-0.0', '0e9', '-0e-9', '1e-400', '-1e-400']
    const ofMillion = ['1000000', '1e6', '1.0e6', '0.1e7', '10000000e-1']
    for (const [spellings, text] of [
      [ofOne, '1'],
      [ofZero, '0'],
      [ofMillion, '1000000'],
    ] as const) {
      for (const spelling of spellings) expect(written(parseStrictJson(spelling, 100)), spelling).toBe(text)
    }
    for (const spelling of ['9007199254740992', '9007199254740993', '1e16', '1e21', '0.1', '5e-324'])
      expect(written(parseStrictJson(spelling, 100)), spelling).toBeNull()
  })
})

describe('canonical keys', () => {
  const chars = ['\0', '\n', ' ', '"', '1', '9', 'A', '\\', 'a', '\x7f', '\x80', 'é', '\u07ff', '\u0800', '\u2028']
  const far = ['\ud7ff', '\ue000', '\ufb33', '\ufffd', '\uffff', '\u{10000}', '\u{1f600}', '\u{10ffff}']
  const all = [...chars, ...far]
  const keys = ['', ...all, ...all.flatMap((first) => far.map((second) => first + second)), '10', '2', '-1', '1.5']

  const units = (text: string) =>
    Uint8Array.from({ length: text.length * 2 }, (_, i) => {
      const unit = text.charCodeAt(i >> 1)
      return i % 2 === 0 ? unit >> 8 : unit & 0xff
    })

  function comparing(bytesOf: (text: string) => Uint8Array): (a: string, b: string) => number {
    return (a, b) => {
      const [left, right] = [bytesOf(a), bytesOf(b)]
      const at = left.findIndex((byte, i) => byte !== right[i])
      return at === -1 ? left.length - right.length : (left[at] as number) - (right[at] ?? -1)
    }
  }

  it.each([
    ['code unit in version 2', canonicalJson, comparing(units)],
    ['code point in version 1', canonicalJsonV1, comparing(utf8)],
  ])('T-52 EVID-05 are sorted by %s, few or many', (_, write, compare) => {
    const inOrder = (some: readonly string[]) => `{${some.toSorted(compare).map((key) => `${JSON.stringify(key)}:0`)}}`
    const objectOf = (some: readonly string[]) => Object.fromEntries(some.map((key) => [key, 0]))
    expect(write(objectOf(keys))).toBe(inOrder(keys))
    expect(write(objectOf(keys.toReversed()))).toBe(inOrder(keys))
    for (const first of all) {
      for (const second of all) {
        if (first === second) continue
        expect(write(objectOf([first, second]))).toBe(inOrder([first, second]))
      }
    }
  })

  it('T-52 EVID-05 remain distinct if they only look the same', () => {
    const alike = { '\u00e9': 1, 'e\u0301': 2, '\u212b': 3, '\u00c5': 4 }
    expect(written(alike)).toBe('{"e\u0301":2,"\u00c5":4,"\u00e9":1,"\u212b":3}')
  })
})
