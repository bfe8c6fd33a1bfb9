import { randomBytes } from 'node:crypto'
import { ed25519Signer } from '@svc/protocol/keys'
import { expect, test } from 'vitest'
import { createTokenSealer } from '../../src/auth/sealed-tokens.ts'

const signer = ed25519Signer(randomBytes(32))
const sealer = createTokenSealer(signer, 'svc/test-tokens/v1', randomBytes)

test('T-98 a sealed value opens again, even at another gateway with the same key', () => {
  const value = { locker: 'lk_1', exp: 12, prefix: 'größe/' }
  const other = createTokenSealer(signer, 'svc/test-tokens/v1', randomBytes)
  expect(other.open(sealer.seal(value))).toEqual(value)
})

test('T-98 two tokens of the same value differ and reveal nothing of it', () => {
  const value = { locker: 'lk_1' }
  expect(sealer.seal(value)).not.toBe(sealer.seal(value))
  expect(Buffer.from(sealer.seal(value), 'base64url').toString('latin1')).not.toContain('lk_1')
})

test('T-98 a token of another kind, or of another key, does not open', () => {
  const token = sealer.seal({ locker: 'lk_1' })
  expect(createTokenSealer(signer, 'svc/other-tokens/v1', randomBytes).open(token)).toBeNull()
  const otherSigner = ed25519Signer(randomBytes(32))
  expect(createTokenSealer(otherSigner, 'svc/test-tokens/v1', randomBytes).open(token)).toBeNull()
})

test('T-98 a token with any changed, missing or added byte does not open', () => {
  const bytes = Buffer.from(sealer.seal({ locker: 'lk_1' }), 'base64url')
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes)
    changed[i]! ^= 1
    expect(sealer.open(changed.toString('base64url'))).toBeNull()
    expect(sealer.open(bytes.subarray(0, i).toString('base64url'))).toBeNull()
  }
  expect(sealer.open(Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64url'))).toBeNull()
})

test('T-98 text that is not a token does not open', () => {
  for (const text of ['', '!', 'a', '='.repeat(80), 'A'.repeat(5000)]) expect(sealer.open(text)).toBeNull()
})
