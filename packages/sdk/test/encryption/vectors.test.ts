// The test vectors of the age format, which its authors publish for all implementations (C2SP CCTV).

import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decrypted } from '../../src/encryption/decrypt.ts'
import { type EncryptionKey, identityKey, passphraseKey } from '../../src/encryption/keys.ts'
import { memorySource } from '../../src/files/source.ts'

interface Vector {
  name: string
  expect: string
  payload: string | undefined
  keys: EncryptionKey[]
  file: Uint8Array
}

/** Null for what is not supported: the text form and post-quantum keys. */
function vectorOf([name, bytes]: [string, Uint8Array]): Vector | null {
  const end = Buffer.from(bytes).indexOf('\n\n')
  const lines = Buffer.from(bytes.subarray(0, end)).toString().split('\n')
  const fields = lines.map((line) => line.split(': ') as [string, string])
  const all = (field: string) => fields.filter(([given]) => given === field).map(([, value]) => value)
  const identities = all('identity')
  const isHybrid = identities.some((identity) => !identity.startsWith('AGE-SECRET-KEY-1'))
  if (all('armored').length > 0 || isHybrid) return null
  const file = bytes.subarray(end + 2)
  return {
    name,
    expect: all('expect')[0] as string,
    payload: all('payload')[0],
    keys: [
      ...(identities.length > 0 ? [identityKey(identities)] : []),
      ...all('passphrase').map((passphrase) => passphraseKey(passphrase, '')),
    ],
    file: all('compressed')[0] === 'zlib' ? inflateSync(file) : file,
  }
}

// Its types are of another module system than its code.
const vectors = (await import('cctv-age')) as unknown as Record<string, Uint8Array>
const supported = Object.entries(vectors)
  .map(vectorOf)
  .filter((vector) => vector !== null)

const OUTCOMES: Readonly<Record<string, readonly string[]>> = { success: ['success'], 'no match': ['wrong_key'] }
const FAILURES: readonly string[] = ['damaged', 'unsupported']

describe('the age test vectors', () => {
  it('are there', () => {
    expect(supported.length).toBeGreaterThan(70)
  })

  it.each(supported.map((vector) => [vector.name, vector] as const))(
    'T-59 decrypts or refuses %s as its authors expect',
    { tags: ['nightly'] },
    async (_, vector) => {
      const hash = createHash('sha256')
      const decrypt = async () => {
        const chunks = await decrypted(memorySource(vector.file).open(), vector.keys)
        for await (const chunk of chunks) hash.update(chunk)
      }
      const outcome = await decrypt().then(
        () => 'success',
        ({ code }: { code: string }) => code,
      )
      expect(OUTCOMES[vector.expect] ?? FAILURES).toContain(outcome)
      // Of a damaged file fewer chunks are released here than elsewhere: only those that another one follows.
      if (outcome === 'success') expect(hash.digest('hex')).toBe(vector.payload)
    },
  )
})
