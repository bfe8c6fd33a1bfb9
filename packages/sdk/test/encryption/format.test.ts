import { createHash } from 'node:crypto'
import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { decrypted } from '../../src/encryption/decrypt.ts'
import { encrypted } from '../../src/encryption/encrypt.ts'
import { type EncryptionKey, identityKey, newIdentity, passphraseKey } from '../../src/encryption/keys.ts'
import { recipientOf } from '../../src/encryption/recipients.ts'
import { memorySource } from '../../src/files/source.ts'

async function allOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}

const decrypt = async (ciphertext: Uint8Array, ...keys: EncryptionKey[]) =>
  allOf(await decrypted(memorySource(ciphertext).open(), keys))
const encrypt = async (plaintext: Uint8Array, by: EncryptionKey, name = 'a.age') =>
  allOf((await encrypted(plaintext, name, by)).open())

/** The numbers from 0 on, in four bytes each. */
function numbers(length: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil(length / 4) * 4)
  for (let i = 0; i < bytes.length; i += 4) bytes.writeUInt32BE(i / 4, i)
  return bytes.subarray(0, length)
}

/** The vectors that the authors of the age format publish for all implementations (C2SP CCTV). */
describe('the age test vectors', async () => {
  // Its types use another module system than its code.
  const vectors = Object.entries((await import('cctv-age')) as unknown as Record<string, Uint8Array>)
  const FAILURES = ['damaged', 'unsupported']
  const OUTCOMES: Readonly<Record<string, string[]>> = { success: ['success'], 'no match': ['wrong_key'] }

  it('exist', () => {
    expect(vectors.length).toBeGreaterThan(100)
  })

  it.each(vectors)('T-59 decrypts or refuses %s as its authors expect', async (_, bytes) => {
    const end = Buffer.from(bytes).indexOf('\n\n')
    const lines = Buffer.from(bytes.subarray(0, end)).toString().split('\n')
    const fields = lines.map((line) => line.split(': ') as [string, string])
    const all = (field: string) => fields.filter(([given]) => given === field).map(([, value]) => value)
    // Post-quantum keys and the text form are not supported.
    const identities = all('identity').filter((identity) => identity.startsWith('AGE-SECRET-KEY-1'))
    const isSupported = all('armored').length === 0 && identities.length === all('identity').length
    const keys = [
      ...(identities.length > 0 ? [identityKey(identities)] : []),
      ...all('passphrase').map((passphrase) => passphraseKey(passphrase, '')),
    ]
    const file = all('compressed')[0] === 'zlib' ? inflateSync(bytes.subarray(end + 2)) : bytes.subarray(end + 2)
    const plaintext = await decrypt(file, ...keys).catch(({ code }: { code: string }) => code)
    const outcome = typeof plaintext === 'string' ? plaintext : 'success'
    const refused = isSupported ? FAILURES : [...FAILURES, 'wrong_key']
    expect((isSupported && OUTCOMES[all('expect')[0]!]) || refused).toContain(outcome)
    if (typeof plaintext !== 'string')
      expect(createHash('sha256').update(plaintext).digest('hex')).toBe(all('payload')[0])
  })

  it('T-59 are refused with a hint if they are in the text form', async () => {
    const armored = Buffer.from('-----BEGIN AGE ENCRYPTED FILE-----\n')
    await expect(decrypt(armored)).rejects.toMatchObject({ code: 'unsupported' })
  })
})

describe('encrypted content', () => {
  const own = identityKey([newIdentity()])

  it.each([0, 1, 65_535, 65_536, 65_537, 131_072, 200_000])('T-59 decrypts to the same %i bytes', async (length) => {
    const plaintext = numbers(length)
    const source = await encrypted(plaintext, 'a.age', own)
    const ciphertext = await allOf(source.open())
    expect(source.size).toBe(ciphertext.length)
    expect((await decrypt(ciphertext, own)).equals(plaintext)).toBe(true)
  })

  it('T-59 decrypts for each recipient and for no other key', async () => {
    const bob = newIdentity()
    const ciphertext = await encrypt(numbers(9), identityKey([newIdentity()], [recipientOf(bob)]))
    expect((await decrypt(ciphertext, identityKey([bob]))).equals(numbers(9))).toBe(true)
    await expect(decrypt(ciphertext, own)).rejects.toMatchObject({ code: 'wrong_key' })
    await expect(decrypt(ciphertext, passphraseKey('a', ''))).rejects.toMatchObject({ code: 'wrong_key' })
  })

  it('T-59 fails to decrypt if it is truncated or changed anywhere', async () => {
    const ciphertext = await encrypt(numbers(65_536 + 10), own)
    const header = ciphertext.indexOf('\n---') + 49
    const positions = [0, 30, header - 1, header, header + 16, header + 16 + 65_552, ciphertext.length - 1]
    for (const position of positions) {
      await expect(decrypt(ciphertext.subarray(0, position), own), `truncated at ${position}`).rejects.toMatchObject({
        name: 'DecryptionError',
      })
      const changed = Buffer.from(ciphertext)
      changed.writeUInt8(ciphertext.readUInt8(position) ^ 1, position)
      await expect(decrypt(changed, own), `changed at ${position}`).rejects.toMatchObject({ name: 'DecryptionError' })
    }
    await expect(decrypt(Buffer.concat([ciphertext, Buffer.alloc(1)]), own)).rejects.toMatchObject({ code: 'damaged' })
  })

  it('T-59 is refused with more than 1,000 recipients, for any size of its header', async () => {
    const withStanzas = (count: number) =>
      Buffer.from(`age-encryption.org/v1\n${'-> a\n\n'.repeat(count)}--- ${'A'.repeat(43)}\n`)
    await expect(decrypt(withStanzas(1_000), own)).rejects.toMatchObject({ code: 'wrong_key' })
    await expect(decrypt(withStanzas(1_001), own)).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('T-59 never yields an unverified byte', async () => {
    const ciphertext = await encrypt(numbers(3 * 65_536), own)
    ciphertext.writeUInt8(ciphertext.readUInt8(ciphertext.length - 70_000) ^ 1, ciphertext.length - 70_000)
    const seen: Uint8Array[] = []
    const read = async () => {
      for await (const chunk of await decrypted(memorySource(ciphertext).open(), [own])) seen.push(chunk)
    }
    await expect(read()).rejects.toMatchObject({ code: 'damaged' })
    expect(Buffer.concat(seen).equals(numbers(65_536))).toBe(true)
  })
})
