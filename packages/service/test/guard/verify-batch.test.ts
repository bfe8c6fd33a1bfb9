import { utf8 } from '@svc/protocol/bytes'
import { type Ed25519Verifier, ed25519PublicKey, ed25519Signer } from '@svc/protocol/keys'
import { expect, it } from 'vitest'
import { createVerify } from '../../src/guard/verify-batch.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(1))
const key = ed25519PublicKey(signer.publicKey) as Ed25519Verifier

it('ENV-02 ENV-17 signatures that are verified together each have their own verdict', async () => {
  const verify = createVerify()
  const verdicts = await Promise.all(
    Array.from({ length: 70 }, (_, i) => {
      const message = utf8(`request ${i}`)
      const signature = signer.sign(i % 3 === 0 ? utf8('another request') : message)
      return verify({ key, message, signature })
    }),
  )
  expect(verdicts).toEqual(Array.from({ length: 70 }, (_, i) => i % 3 !== 0))
})

it('ENV-17 a signature of a wrong length is rejected among others and alone', async () => {
  const verify = createVerify()
  const message = utf8('request')
  const good = { key, message, signature: signer.sign(message) }
  const short = { key, message, signature: new Uint8Array(63) }
  expect(await Promise.all([verify(good), verify(short), verify(short), verify(good)])).toEqual([
    true,
    false,
    false,
    true,
  ])
  expect(await verify(short)).toBe(false)
})

it('a verification that fails ends its own request only', async () => {
  const verify = createVerify()
  const message = utf8('request')
  const good = { key, message, signature: signer.sign(message) }
  const fail = () => {
    throw new Error('out of memory')
  }
  const broken = { ...good, key: { verify: fail, verifySoon: async () => fail() } }
  const outcomes = await Promise.allSettled([good, broken, broken, good, broken, good].map(verify))
  expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual([true, false, false, true, false, true])
})
