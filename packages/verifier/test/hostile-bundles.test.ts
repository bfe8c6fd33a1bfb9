import { fromUtf8, toHex, utf8 } from '@svc/protocol/bytes'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Verification, verifyBundle } from '../src/verify-bundle.ts'
import { bundleOf, listedFiles, SIGNER } from './bundles.ts'
import { pinnedKeys } from './pack.ts'

const bundle = bundleOf(listedFiles(3))
const text = JSON.stringify(bundle)
const bytes = utf8(text)
const given = { pinnedKeys: pinnedKeys([toHex(SIGNER.publicKey)]) }
const verify = (some: Uint8Array) => verifyBundle([some], given)

function isAccepted(verification: Verification): boolean {
  return verification.refused === null && verification.failed.length === 0
}

/** The values that the statement signs. The rest of a bundle is not protected. */
function signedParts(some: Uint8Array) {
  const { files, commitment, proof_id, envelope } = JSON.parse(fromUtf8(some)!)
  const { body, statement_digest, signature, sig_alg } = envelope
  return { files, commitment, proof_id, body, statement_digest, signature, sig_alg }
}

describe('hostile bundles', () => {
  it('CLI-05 are refused if they are truncated anywhere', { tags: ['nightly'] }, async () => {
    expect(isAccepted(await verify(bytes))).toBe(true)
    for (let end = 0; end < bytes.length; end++) {
      expect((await verify(bytes.subarray(0, end))).refused, String(end)).not.toBeNull()
    }
  })

  it('CLI-05 fail with a flipped bit, unless no signed value changed', { tags: ['nightly'] }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (place, bit) => {
        const flipped = bytes.slice()
        flipped[place] = (flipped[place] as number) ^ (1 << bit)
        if (isAccepted(await verify(flipped))) expect(signedParts(flipped)).toEqual(signedParts(bytes))
      }),
      { numRuns: 400 },
    )
  })

  it('CLI-05 never throw with inserted or removed text, and pass only if signed values are unchanged', {
    tags: ['nightly'],
  }, async () => {
    const token = fc.constantFrom(...'{ } [ ] , : " \\ 0 - 1e999 null \0 😀'.split(' '), ' ')
    const inserted = fc.array(token, { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length), fc.nat(30), inserted, async (place, cut, tokens) => {
        const broken = utf8((text.slice(0, place) + tokens.join('') + text.slice(place + cut)).toWellFormed())
        if (isAccepted(await verify(broken))) expect(signedParts(broken)).toEqual(signedParts(bytes))
      }),
      { numRuns: 250 },
    )
  })

  const row = '"size_bytes":1,'
  it.each([
    ['an array nested a hundred thousand times', `${text.slice(0, -1)},"x":${'['.repeat(100_000)}`],
    ['a file nested deep', text.replace(row, `${row}"x":${'{"x":'.repeat(10_000)}1${'}'.repeat(10_000)},`)],
    ['a number with a far exponent', text.replace(row, '"size_bytes":1e308,')],
    ['a name of a megabyte', text.replace('f0000001', 'f'.repeat(1_000_000))],
    ['a body of a megabyte', text.replace('svc/evidence/v2"}', `${'x'.repeat(1_100_000)}"}`)],
    ['twenty thousand fields in the body', text.replace('"policy_version"', `${fields(20_000)}"policy_version"`)],
    ['a key named __proto__', text.replace('"policy_version"', '"__proto__":{"sig_alg":"ed25519"},"policy_version"')],
  ])('ADD-05 do not pass with %s', { tags: ['nightly'] }, async (_, hostile) => {
    expect(isAccepted(await verify(utf8(hostile)))).toBe(false)
  })

  function fields(count: number): string {
    return Array.from({ length: count }, (_, i) => `"x${i}":${i},`).join('')
  }
})
