import { fromBase58, fromHex, toBase58, utf8 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { createDelegationKeys } from '../../src/delegations/delegation-keys.ts'

const seed = new Uint8Array(32).fill(5)
const keys = createDelegationKeys(seed)
const [first, second] = [`dlg_${'1'.repeat(32)}`, `dlg_${'2'.repeat(32)}`]
const HOOK = 'https://hooks.example/a'

it('AGENT-04 a delegation gets the same key every time, which signs its requests', async () => {
  const signer = keys.signerOf(first)
  expect(createDelegationKeys(Uint8Array.from(seed)).signerOf(first).address).toBe(signer.address)
  const message = utf8('a request')
  const signature = fromBase58(await signer.sign(message), 64)!
  expect(ed25519PublicKeyFromBase58(signer.address)?.verify(message, signature)).toBe(true)
})

it('AGENT-04 the keys and secrets equal those of another implementation of HKDF-SHA-256', () => {
  // Computed with Python's hmac and cryptography modules according to RFC 5869.
  const publicKey = '85cd2e9b2e5380eeda029da776b684adedb0112538d4cc22b7c9bb595d46126a'
  expect(keys.signerOf(first).address).toBe(toBase58(fromHex(publicKey, 32)!))
  expect(keys.webhookSecretOf(first, HOOK)).toBe('whsec_KwvrcmjGcEcv3JkD73xt4qvxbX/1xODTnH4CXIqWzEc=')
})

it('AGENT-04 the keys and secrets differ for different delegations, seeds, URLs and purposes', () => {
  const others = createDelegationKeys(new Uint8Array(32).fill(6))
  const all = [
    keys.signerOf(first).address,
    keys.signerOf(second).address,
    others.signerOf(first).address,
    keys.webhookSecretOf(first, HOOK),
    keys.webhookSecretOf(first, `${HOOK}b`),
    keys.webhookSecretOf(second, HOOK),
    others.webhookSecretOf(first, HOOK),
  ]
  expect(new Set(all).size).toBe(all.length)
})
