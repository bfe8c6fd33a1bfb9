import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '#crypto'
import { concat, fromBase64Url, toBase64Url } from '../src/bytes.ts'
import { canonicalBytes, type Json } from '../src/canonical.ts'
import { ed25519PublicKey, ed25519Signer } from '../src/keys.ts'
import { mintToken, readToken } from '../src/short-url.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(3))
const key = ed25519PublicKey(signer.publicKey)!
const fields = {
  expires: 1_781_224_200,
  lockerId: 'locker_1',
  method: 'GET' as const,
  nonce: '00'.repeat(16),
  provider: 1,
}
const payload = { e: fields.expires, f: 'a.txt', l: 'locker_1', m: 'GET', n: fields.nonce, p: 1, v: 1 }

function sign(value: Json): string {
  const bytes = canonicalBytes(value)
  return toBase64Url(concat(bytes, signer.sign(bytes)))
}

describe('short URL tokens', () => {
  it('SHORT-01 SHORT-02 are read with the minted fields, for any filename', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((s) => s.isWellFormed()),
        (filename) => {
          expect(readToken(mintToken({ ...fields, filename }, signer), key)).toEqual({ ...fields, filename })
        },
      ),
      { numRuns: 30 },
    )
  })

  it('SHORT-12 are still read in the old form, which has a hash of the filename', () => {
    const { f, ...rest } = payload
    const filenameHash = sha256Hex(f)
    expect(readToken(sign({ ...rest, h: filenameHash }), key)).toEqual({ ...fields, filenameHash })
  })

  it('SHORT-03 SHORT-07 are refused if any byte was changed', () => {
    const token = mintToken({ ...fields, filename: 'a.txt' }, signer)
    const bytes = fromBase64Url(token)!
    for (let i = 0; i < bytes.length; i++) {
      const changed = Uint8Array.from(bytes)
      changed[i]! ^= 1
      expect(readToken(toBase64Url(changed), key)).toBeNull()
    }
  })

  it.each([
    ['another version', { ...payload, v: 2 }],
    ['another method', { ...payload, m: 'POST' }],
    ['no filename', { ...payload, f: null }],
    ['a fractional-looking expiry', { ...payload, e: '1' }],
    ['an array', [payload]],
    ['a string', 'x'],
  ] as [string, Json][])('SHORT-07 are refused if the signed payload has %s', (_, value) => {
    expect(readToken(sign(value), key)).toBeNull()
  })

  it('SHORT-07 are refused with padding, another alphabet, other lengths or another key', () => {
    const token = mintToken({ ...fields, filename: 'a.txt' }, signer)
    const otherKey = ed25519PublicKey(ed25519Signer(new Uint8Array(32).fill(4)).publicKey)!
    expect(readToken(token, otherKey)).toBeNull()
    for (const bad of ['', `${token}=`, `${token} `, token.slice(0, 40), '+'.repeat(200), 'A'.repeat(100_000)]) {
      expect(readToken(bad, key)).toBeNull()
    }
  })
})
