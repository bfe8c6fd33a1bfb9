import { base58, base64urlnopad } from '@scure/base'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex, sha256Stream } from '#crypto'
import {
  bare,
  fromBase58,
  fromBase64,
  fromBase64Url,
  fromHex,
  fromUtf8,
  toBase58,
  toBase64Url,
  toHex,
  utf8,
  withPrefix,
} from '../src/bytes.ts'
import * as noble from '../src/crypto-noble.ts'

const anyBytes = fc.uint8Array({ maxLength: 100 })

describe('encodings', () => {
  it('decode what they encode', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        expect(fromHex(toHex(bytes))).toEqual(bytes)
        expect(fromBase64Url(toBase64Url(bytes))).toEqual(bytes)
        expect(fromBase64(btoa(String.fromCharCode(...bytes)))).toEqual(bytes)
      }),
    )
  })

  it('agree with a general decoder on every text', () => {
    const general = (decode: () => Uint8Array) => {
      try {
        return decode()
      } catch {
        return null
      }
    }
    const digits = fc.string({ unit: fc.constantFrom(...'11zzABCabc0OIl29-_=é'), maxLength: 90 })
    const texts = fc.oneof(anyBytes.map(toBase58), anyBytes.map(toBase64Url), digits)
    fc.assert(
      fc.property(texts, fc.nat({ max: 66 }), (text, other) => {
        expect(fromBase64Url(text)).toEqual(general(() => base64urlnopad.decode(text)))
        const bytes = general(() => base58.decode(text))
        for (const length of [other, bytes?.length ?? 64]) {
          expect(fromBase58(text, length)).toEqual(bytes?.length === length ? bytes : null)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('GEN-03 accept only lowercase hex of the given length', () => {
    for (const text of ['0', 'AB', 'zz', '0x00', ' 00', '00 ']) expect(fromHex(text)).toBeNull()
    expect(fromHex('00', 2)).toBeNull()
  })

  it('convert text to UTF-8 and back, and refuse lone surrogates and invalid bytes', () => {
    expect(fromUtf8(utf8('é😀'))).toBe('é😀')
    expect(fromUtf8(Uint8Array.of(0xc0, 0x80))).toBeNull()
    expect(() => utf8('\ud800')).toThrow(RangeError)
    expect(() => sha256Hex('\ud800')).toThrow(RangeError)
  })

  it('GEN-04 add and remove the prefix of a hash', () => {
    expect(withPrefix('ab')).toBe('sha256:ab')
    expect(bare('sha256:ab')).toBe('ab')
    expect(bare('ab')).toBe('ab')
  })
})

describe('SHA-256', () => {
  it('MERK-01 matches known values, and hashes text as UTF-8', () => {
    expect(sha256Hex('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
    const stream = sha256Stream()
    for (const char of 'é😀a') stream.update(char)
    expect([sha256Hex('é😀a'), stream.hex()]).toEqual(Array(2).fill(sha256Hex(utf8('é😀a'))))
  })

  it('MERK-01 is the same for complete and split input, and in both implementations', () => {
    fc.assert(
      fc.property(fc.array(anyBytes), (parts) => {
        const stream = sha256Stream()
        for (const part of parts) stream.update(part)
        const whole = Uint8Array.from(parts.flatMap((part) => [...part]))
        expect(stream.hex()).toBe(sha256Hex(whole))
        expect(noble.sha256Hex(whole)).toBe(sha256Hex(whole))
      }),
    )
  })
})
