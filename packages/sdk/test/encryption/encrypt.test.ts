// Encrypted uploads are resumable because the same content gives the same ciphertext, only for the owner of the key.

import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { encrypted } from '../../src/encryption/encrypt.ts'
import { type EncryptionKey, identityKey, newIdentity, walletIdentity } from '../../src/encryption/keys.ts'
import { recipientOf } from '../../src/encryption/recipients.ts'
import type { Source } from '../../src/files/source.ts'
import { type Signer, signerFromEvmKey, signerFromSeed } from '../../src/signers.ts'

const key = identityKey([newIdentity()])
const MB = 1024 * 1024

async function ciphertextOf(bytes: Uint8Array | Source, name = 'a.age', by: EncryptionKey = key): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of (await encrypted(bytes, name, by)).open()) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

/** A source that returns different bytes each time it is opened. */
function changing(...contents: Uint8Array[]): Source {
  let opened = 0
  return {
    size: contents[0]!.length,
    isRepeatable: true,
    async *open() {
      yield contents[Math.min(opened++, contents.length - 1)] as Uint8Array
    },
  }
}

describe('encrypting again', () => {
  it('T-59 gives the same bytes for the same key, name and content, and unrelated bytes otherwise', async () => {
    const first = await ciphertextOf(Buffer.from('same'))
    expect(await ciphertextOf(Buffer.from('same'))).toBe(first)
    const others = await Promise.all([
      ciphertextOf(Buffer.from('Same')),
      ciphertextOf(Buffer.from('same'), 'b.age'),
      ciphertextOf(Buffer.from('same'), 'a.age', identityKey([newIdentity()])),
    ])
    const linesOf = (ciphertext: string) => ciphertext.split('\n').slice(1, 5)
    const lines = [first, ...others].flatMap(linesOf).filter((line) => line.length > 20)
    expect(new Set(lines).size).toBe(lines.length)
  })

  it('T-59 gives the same bytes for a large source, with size and hash known in advance', {
    tags: ['nightly'],
  }, async () => {
    const bytes = randomBytes(9 * MB)
    const source = await encrypted(changing(bytes), 'large.age', key)
    expect(source).toMatchObject({ isRepeatable: true, contentHash: expect.stringMatching(/^sha256:/) })
    expect(await ciphertextOf(changing(bytes), 'large.age')).toBe(await ciphertextOf(changing(bytes), 'large.age'))
  })

  it('T-59 differs each time for a stream, which cannot be read again', async () => {
    const once = (): Source => ({ ...changing(Buffer.from('piped')), size: null, isRepeatable: false })
    expect(await ciphertextOf(once())).not.toBe(await ciphertextOf(once()))
  })
})

describe('a file that changes while it is read', () => {
  const before = Buffer.alloc(9 * MB, 'before')
  const after = Buffer.from(before)
  after.write('AFTER', 8.5 * MB)

  it('T-59 is refused while it is hashed', async () => {
    await expect(encrypted(changing(before, after), 'a.age', key)).rejects.toThrow('changed while it was read')
  })

  it('T-59 sends no changed bytes under the same key', { tags: ['nightly'] }, async () => {
    const source = await encrypted(changing(before, before, after), 'a.age', key)
    const unchanged = await encrypted(changing(before), 'a.age', key)
    const sent: Uint8Array[] = []
    const send = async () => {
      for await (const part of source.open()) sent.push(part)
    }
    await expect(send()).rejects.toThrow('changed while it was read')
    const expected: Uint8Array[] = []
    for await (const part of unchanged.open()) expected.push(part)
    expect(sent.length).toBe(1)
    expect(Buffer.concat(sent).equals(Buffer.concat(expected).subarray(0, 8 * MB))).toBe(true)
  })
})

describe('the identity of a wallet', () => {
  const seed = Buffer.alloc(32, 7)

  it('T-59 is derived from the wallet alone and never changes', async () => {
    const recipients = await Promise.all(
      [signerFromSeed(seed), signerFromEvmKey(seed)].map(async (signer) => recipientOf(await walletIdentity(signer))),
    )
    expect(recipients).toEqual([
      'age1ee332d3nuy0h488gg8cea6sjfvgfx9vunhydy2vjq9yhu0a8m97qhdfcdc',
      'age1fcj9vg3lxamn9v3g564cjyysnnrj6p27zka6nxwdk5srhtt4ysmsmlxj6n',
    ])
  })

  it('T-59 does not depend on how a wallet writes an EVM address or signature', async () => {
    const signer = signerFromEvmKey(seed)
    const other: Signer = {
      address: signer.address.toUpperCase().replace('0X', '0x'),
      async sign(message) {
        const signature = await signer.sign(message)
        const recovery = Number.parseInt(signature.slice(-2), 16) - 27
        return `${signature.slice(0, -2)}0${recovery}`
      },
    }
    expect(await walletIdentity(other)).toBe(await walletIdentity(signer))
  })

  it('T-59 is refused for a wallet that signs differently each time or in another form', async () => {
    const address = signerFromSeed(seed).address
    const random: Signer = { address, sign: (message) => signerFromSeed(randomBytes(32)).sign(message) }
    await expect(walletIdentity(random)).rejects.toThrow('differently each time')
    const contract: Signer = { address: `0x${'ab'.repeat(20)}`, sign: async () => `0x${'00'.repeat(96)}` }
    await expect(walletIdentity(contract)).rejects.toThrow('no plain signatures')
  })
})
