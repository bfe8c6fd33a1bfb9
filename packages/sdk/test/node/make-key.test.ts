import { createCipheriv, scryptSync } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { keccak_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseKey, readKeyFile } from '../../src/node/key-file.ts'
import { keyTextOfKeystore, keyTextOfMnemonic, newKeyText, writeKeyFile } from '../../src/node/make-key.ts'
import { useFolder } from '../lockers.ts'

const addressOf = (text: string) => parseKey(text, 'the test').signer.address

describe('a new key', () => {
  const folder = useFolder()

  it.each(['solana', 'eip155'] as const)(
    'is a key for %s, in a file that only its owner can read',
    async (namespace) => {
      const text = newKeyText(namespace)
      const file = join(folder, namespace)
      await writeKeyFile(file, text)
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      expect(await readKeyFile(file)).toMatchObject({ namespace, signer: { address: addressOf(text) } })
      expect(newKeyText(namespace)).not.toBe(text)
    },
  )

  it('never replaces an existing file', async () => {
    const file = join(folder, 'existing')
    await writeKeyFile(file, 'the only copy')
    await expect(writeKeyFile(file, newKeyText('solana'))).rejects.toMatchObject({ code: 'EEXIST' })
    expect(await readFile(file, 'utf8')).toBe('the only copy\n')
  })
})

/** Well-known words, and the accounts that other wallets derive from them. */
const ABANDON = `${'abandon '.repeat(11)}about`
const JUNK = `${'test '.repeat(11)}junk`

describe('the words of a wallet', () => {
  it('give the account that other wallets derive from them', async () => {
    const solana = await keyTextOfMnemonic(ABANDON, { namespace: 'solana' })
    expect(addressOf(solana)).toBe('HAgk14JpMQLgt6rVgv7cBQFJWFto5Dqxi472uT3DKpqk')
    const evm = await keyTextOfMnemonic(` ${JUNK.toUpperCase()}\n`, { namespace: 'eip155' })
    expect(evm).toBe('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
    const second = await keyTextOfMnemonic(JUNK, { namespace: 'eip155', path: "m/44'/60'/0'/0/1" })
    expect(addressOf(second)).toBe('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
  })

  it('give other accounts for another path or passphrase', async () => {
    const texts = await Promise.all([
      keyTextOfMnemonic(ABANDON, { namespace: 'solana' }),
      keyTextOfMnemonic(ABANDON, { namespace: 'solana', path: "m/44'/501'/1'/0'" }),
      keyTextOfMnemonic(ABANDON, { namespace: 'solana', path: "m/44'/501'" }),
      keyTextOfMnemonic(ABANDON, { namespace: 'solana', passphrase: 'TREZOR' }),
    ])
    expect(new Set(texts).size).toBe(4)
  })

  it('are refused if a word is wrong or the path is invalid', async () => {
    for (const words of ['', 'abandon', `${'abandon '.repeat(11)}abandon`, `${'abandon '.repeat(11)}abuot`]) {
      await expect(keyTextOfMnemonic(words, { namespace: 'solana' })).rejects.toMatchObject({ code: 'no_key' })
    }
    for (const path of ['', 'm', "m/44'/501'/0", "m/44'/9999999999'", 'x', "m/44'/501'/0'/0'/"]) {
      await expect(keyTextOfMnemonic(ABANDON, { namespace: 'solana', path })).rejects.toMatchObject({ code: 'no_key' })
    }
    await expect(keyTextOfMnemonic(JUNK, { namespace: 'eip155', path: 'x' })).rejects.toMatchObject({ code: 'no_key' })
  })
})

/** A test vector of the format, for the password "testpassword". */
const SECRET = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PBKDF2 = {
  version: 3,
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
}

/** The form of geth, with weaker parameters. */
function scryptKeystore(password: string) {
  const [salt, iv] = [Buffer.alloc(32, 1), Buffer.alloc(16, 2)]
  const key = scryptSync(password, salt, 32, { N: 1024, r: 8, p: 1 })
  const ciphertext = createCipheriv('aes-128-ctr', key.subarray(0, 16), iv).update(SECRET.slice(2), 'hex')
  return {
    version: 3,
    Crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: iv.toString('hex') },
      ciphertext: ciphertext.toString('hex'),
      kdf: 'scrypt',
      kdfparams: { dklen: 32, n: 1024, r: 8, p: 1, salt: salt.toString('hex') },
      mac: Buffer.from(keccak_256(Buffer.concat([key.subarray(16), ciphertext]))).toString('hex'),
    },
  }
}

describe('a keystore', () => {
  it.each([PBKDF2, scryptKeystore('testpassword')])('opens only with its password', (keystore) => {
    const text = JSON.stringify(keystore)
    expect(keyTextOfKeystore(text, 'testpassword')).toBe(SECRET)
    expect(() => keyTextOfKeystore(text, 'wrong')).toThrow(expect.objectContaining({ code: 'encrypted' }))
  })

  it('T-129 is refused if it has another form or requires too much work', () => {
    const { kdfparams } = PBKDF2.crypto
    const scrypt = (more: object) => ({ kdf: 'scrypt', kdfparams: { ...kdfparams, ...more } })
    const changes = [
      { cipher: 'aes-256-gcm' },
      { ciphertext: 5 },
      { ciphertext: '00' },
      { cipherparams: { iv: '00' } },
      { kdfparams: null },
      { kdfparams: { ...kdfparams, c: 1e12 } },
      scrypt({ n: 2 ** 40, r: 8, p: 1 }),
      scrypt({ n: 1024, r: 8, p: 2 ** 18 }),
      scrypt({ p: 1 }),
    ]
    const changed = changes.map((change) => ({ version: 3, crypto: { ...PBKDF2.crypto, ...change } }))
    const noKey = expect.objectContaining({ code: 'no_key' })
    for (const other of [{}, { ...PBKDF2, version: 1 }, ...changed])
      expect(() => keyTextOfKeystore(JSON.stringify(other), 'testpassword')).toThrow(noKey)
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => keyTextOfKeystore(text, '')).toThrow(expect.objectContaining({ name: 'KeyFileError' }))
      }),
    )
  })
})
