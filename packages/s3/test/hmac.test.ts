import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hmacSha256 } from '../src/hmac.ts'

it("T-93 the HMAC of any key and text equals OpenSSL's", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 150 }), fc.string({ unit: 'grapheme', maxLength: 200 }), (key, text) => {
      const known = text.toWellFormed()
      expect(hmacSha256(key, known)).toEqual(createHmac('sha256', key).update(known).digest())
    }),
  )
})
