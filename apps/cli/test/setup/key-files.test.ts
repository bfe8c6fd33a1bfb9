// The file formats of private keys: keypairs, hex, keystores of EVM wallets.

import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, must, text } from '@svc/devnet/properties/rules'
import { toBase58, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import { KeyFileError, keyTextOfKeystore, parseKey } from '@svc/sdk/node'
import { parseKeySeed } from '@svc/service/program/keys'
import { expect, it } from 'vitest'

const PASSWORD = 'password'
/** The example of the version-3 keystore definition, with fewer rounds. */
const KEYSTORE = {
  version: 3,
  crypto: {
    cipher: 'aes-128-ctr',
    ciphertext: '',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    kdf: 'pbkdf2',
    kdfparams: {
      c: 1,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '',
  },
}

it('T-129 no made-up input breaks the rules of key files', async () => {
  const seed = new Uint8Array(32).fill(9)
  const pair = Buffer.concat([seed, ed25519Signer(seed).publicKey])
  expect(
    await problemWith({
      examples: [
        JSON.stringify([...pair]),
        toBase58(pair),
        `0x${toHex(seed)}\n`,
        toHex(seed),
        JSON.stringify(await encrypted(Buffer.from(seed))),
      ],
      words: ['[', ']', ',', '0x', '\n', '\ufeff', 'scrypt', 'pbkdf2', 'n', 'r', 'p', 'c', 'Crypto', 'crypto', '{'],
      isJson: true,
      maxBytes: 4096,
      rule(input) {
        checkKey(text(input))
        const isCheap = costOf(json(input)) < 10_000
        const found = isCheap && accepted(KeyFileError, () => keyTextOfKeystore(text(input), PASSWORD))
        if (found) must(accepted(KeyFileError, () => parseKey(found, 'a keystore')) !== null, 'a keystore holds no key')
      },
    }),
  ).toBeNull()
})

/** The client and the services read the same keypairs. */
function checkKey(content: string): void {
  const key = accepted(KeyFileError, () => parseKey(content, 'a file'))
  const ownSeed = parseKeySeed(content)
  if (key?.namespace === 'solana') must(ownSeed !== null, 'services reject a keypair that the client accepts')
  const isHex = /^\s*(?:0x)?[0-9a-f]*\s*$/i.test(content)
  if (ownSeed === null || isHex) return
  must(key?.signer.address === toBase58(ed25519Signer(ownSeed).publicKey), 'client and services read two keys')
}

/** The work that a keystore demands. The wallet chooses it, up to a limit: costly keystores are left out. */
function costOf(keystore: unknown): number {
  const params = (keystore as typeof KEYSTORE | null | undefined)?.crypto?.kdfparams
  const { n = 1, r = 1, p = 1, c = 1 } = { ...(params as Record<string, unknown> | null | undefined) }
  return [n, r, p, c].reduce<number>((cost, value) => (typeof value === 'number' ? cost * value : 0), 1)
}

async function encrypted(secret: Buffer): Promise<typeof KEYSTORE> {
  const { createCipheriv, pbkdf2Sync } = await import('node:crypto')
  const { keccak256 } = await import('viem')
  const { cipherparams, kdfparams } = KEYSTORE.crypto
  const key = pbkdf2Sync(PASSWORD, Buffer.from(kdfparams.salt, 'hex'), 1, 32, 'sha256')
  const cipher = createCipheriv('aes-128-ctr', key.subarray(0, 16), Buffer.from(cipherparams.iv, 'hex'))
  const ciphertext = Buffer.concat([cipher.update(secret), cipher.final()])
  const mac = keccak256(Buffer.concat([key.subarray(16), ciphertext])).slice(2)
  return { ...KEYSTORE, crypto: { ...KEYSTORE.crypto, ciphertext: ciphertext.toString('hex'), mac } }
}
