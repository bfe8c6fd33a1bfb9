import { toBase58, utf8 } from '@svc/protocol/bytes'
import { ed25519Signer, evmAddressOf, personalSign } from '@svc/protocol/keys'
import { describe, expect, it } from 'vitest'
import { createVerify } from '../../src/guard/verify-batch.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(1))
const identity = toBase58(signer.publicKey)
const signatureOf = (text: string) => toBase58(signer.sign(utf8(text)))

/** Without a spare core, signatures are verified in this thread; otherwise several of them in another. */
const PLACES = { 'in this thread': Number.POSITIVE_INFINITY, 'in another thread': 0 }

describe.each(Object.entries(PLACES))('signatures that are verified together %s', (_, processes) => {
  const verify = createVerify(processes)

  it('ENV-02 ENV-17 each have their own verdict', async () => {
    const verdicts = await Promise.all(
      Array.from({ length: 70 }, (_, i) => {
        const signature = signatureOf(i % 3 === 0 ? 'another request' : `request ${i}`)
        return verify({ identity, message: utf8(`request ${i}`), signature })
      }),
    )
    expect(verdicts).toEqual(Array.from({ length: 70 }, (_, i) => i % 3 !== 0))
  })

  it('ENV-17 are rejected among others and alone when they are not one of this key', async () => {
    const message = utf8('request')
    const good = { identity, message, signature: signatureOf('request') }
    const bad = [
      { ...good, signature: toBase58(new Uint8Array(63)) },
      { ...good, signature: 'no signature' },
      { ...good, identity: 'no key' },
    ]
    const together = [good, ...bad, good, ...bad]
    expect(await Promise.all(together.map(verify))).toEqual(together.map((one) => one === good))
    for (const one of bad) expect(await verify(one)).toBe(false)
  })

  it('ENV-03 may be of both algorithms', async () => {
    const key = new Uint8Array(32).fill(2)
    const message = utf8('request')
    const ofWallet = { identity: evmAddressOf(key), message, signature: personalSign(message, key) }
    const other = { ...ofWallet, signature: personalSign(utf8('another request'), key) }
    const ofKey = { identity, message, signature: signatureOf('request') }
    expect(await Promise.all([ofWallet, ofKey, other, ofKey, ofWallet].map(verify))).toEqual([
      true,
      true,
      false,
      true,
      true,
    ])
  })
})
