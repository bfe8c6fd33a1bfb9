import { describe, expect, it } from 'vitest'
import { isManifestSignedBy, isUnsigned, manifestSignature } from '../src/attestation.ts'
import { toHex, utf8, withPrefix } from '../src/bytes.ts'
import { ed25519PublicKey, ed25519Signer } from '../src/keys.ts'

const signer = ed25519Signer(new Uint8Array(32).fill(3))
const key = ed25519PublicKey(signer.publicKey)!
const ROOTS = ['00'.repeat(32), 'ff'.repeat(32), toHex(signer.publicKey)]

/** By the platform, not by our own code. */
async function sha256(text: string): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', utf8(text) as BufferSource)))
}

describe('a manifest signature without a key', () => {
  it.each(ROOTS)(
    'MERK-15 AMB-31 is marked and holds the first 32 hex of the hash of the root as text: %s',
    async (root) => {
      const expected = `unsigned:${(await sha256(root)).slice(0, 32)}`
      expect(manifestSignature(root, null)).toBe(expected)
      expect(manifestSignature(withPrefix(root), null)).toBe(expected)
      expect(isUnsigned(expected)).toBe(true)
    },
  )

  it('MERK-15 MERK-16 is never taken for a signature, however it is dressed up', () => {
    const [root] = ROOTS as [string]
    const unsigned = manifestSignature(root, null)
    const signature = manifestSignature(root, signer)
    expect([isUnsigned(signature), isManifestSignedBy(key, root, signature)]).toEqual([false, true])
    for (const text of [
      unsigned,
      unsigned.slice('unsigned:'.length).repeat(4),
      `unsigned:${signature}`,
      `${signature} `,
    ])
      expect(isManifestSignedBy(key, root, text), text).toBe(false)
  })
})
