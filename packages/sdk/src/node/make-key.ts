// New keys, keys in the export formats of other wallets, and key files. Every function returns the text of a key file
// that `parseKey` reads.

import { createDecipheriv, createHmac, pbkdf2Sync, randomBytes, scryptSync } from 'node:crypto'
import { open } from 'node:fs/promises'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { fromHex, toHex } from '@svc/protocol/bytes'
import { ed25519Signer } from '@svc/protocol/keys'
import type { Wallet } from '../wallets/wallet.ts'
import { KeyFileError } from './key-file.ts'

type Namespace = Wallet['namespace']

export function newKeyText(namespace: Namespace): string {
  return keyText(namespace, randomBytes(32))
}

/** Writes a new file that only its owner can read. Throws if the file exists. */
export async function writeKeyFile(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(`${text}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
}

function keyText(namespace: Namespace, secret: Uint8Array): string {
  if (namespace === 'eip155') return `0x${toHex(secret)}`
  return JSON.stringify([...secret, ...ed25519Signer(secret).publicKey])
}

/** The first account of most wallets. */
export const DERIVATION_PATHS = { solana: "m/44'/501'/0'/0'", eip155: "m/44'/60'/0'/0/0" } as const

export interface MnemonicOptions {
  namespace: Namespace
  path?: string
  /** The "25th word", which is not the password of a wallet. */
  passphrase?: string
}

/** The key of the words of a wallet (BIP-39). */
export async function keyTextOfMnemonic(words: string, options: MnemonicOptions): Promise<string> {
  const { namespace, path = DERIVATION_PATHS[namespace], passphrase = '' } = options
  const { mnemonicToSeed, validateMnemonic } = await import('@scure/bip39')
  const { wordlist } = await import('@scure/bip39/wordlists/english.js')
  const mnemonic = words.trim().toLowerCase().split(/\s+/).join(' ')
  if (!validateMnemonic(mnemonic, wordlist))
    throw new KeyFileError(
      'no_key',
      'these are not the words of a wallet: a word is wrong, missing or in the wrong position',
    )
  const seed = await mnemonicToSeed(mnemonic, passphrase)
  return keyText(namespace, namespace === 'solana' ? deriveEd25519(seed, path) : await deriveSecp256k1(seed, path))
}

/** SLIP-10, in which every step is hardened. */
function deriveEd25519(seed: Uint8Array, path: string): Uint8Array {
  if (!/^m(\/\d{1,10}')+$/.test(path)) throw wrongPath(path)
  let node = createHmac('sha512', 'ed25519 seed').update(seed).digest()
  for (const step of path.split('/').slice(1)) {
    const index = Number.parseInt(step, 10)
    if (index >= 2 ** 31) throw wrongPath(path)
    const data = Buffer.alloc(37)
    node.copy(data, 1, 0, 32)
    data.writeUInt32BE(index + 2 ** 31, 33)
    node = createHmac('sha512', node.subarray(32)).update(data).digest()
  }
  return node.subarray(0, 32)
}

/** BIP-32. */
async function deriveSecp256k1(seed: Uint8Array, path: string): Promise<Uint8Array> {
  const { HDKey } = await import('@scure/bip32')
  try {
    return HDKey.fromMasterSeed(seed).derive(path).privateKey as Uint8Array
  } catch {
    throw wrongPath(path)
  }
}

function wrongPath(path: string): KeyFileError {
  const examples = Object.values(DERIVATION_PATHS).join(' or ')
  return new KeyFileError('no_key', `${path} is not a derivation path such as ${examples}`)
}

interface Keystore {
  version?: unknown
  crypto?: {
    cipher?: unknown
    ciphertext?: unknown
    cipherparams?: { iv?: unknown }
    kdf?: unknown
    kdfparams?: Record<string, unknown> | null
    mac?: unknown
  }
}

/** The key of an encrypted keystore of an EVM wallet (version 3), as written by geth, foundry and ethers. */
export function keyTextOfKeystore(text: string, password: string): string {
  const { cipher, ciphertext, cipherparams, kdf, kdfparams, mac } = readKeystore(text)
  const [encrypted, iv, salt] = [ciphertext, cipherparams?.iv, kdfparams?.salt].map((hex) => fromHex(bareHex(hex)))
  if (cipher !== 'aes-128-ctr' || encrypted?.length !== 32 || iv?.length !== 16 || !salt) throw unknownKeystore()
  const key = deriveKey(kdf, kdfparams ?? {}, salt, password)
  const expected = toHex(keccak_256(Buffer.concat([key.subarray(16, 32), encrypted])))
  if (expected !== bareHex(mac)) throw new KeyFileError('encrypted', 'this is not the password of the keystore')
  const decipher = createDecipheriv('aes-128-ctr', key.subarray(0, 16), iv)
  return keyText('eip155', Buffer.concat([decipher.update(encrypted), decipher.final()]))
}

function readKeystore(text: string): NonNullable<Keystore['crypto']> {
  try {
    // Some tools write the member in upper case.
    const keystore = JSON.parse(text.replace('"Crypto"', '"crypto"')) as Keystore
    if (keystore.version === 3 && keystore.crypto) return keystore.crypto
  } catch {}
  throw unknownKeystore()
}

/** No wallet makes a keystore that requires more. */
const MAX_MEMORY = 512 * 1024 * 1024
/** N × r × p of scrypt: eight times the choice of geth and foundry. */
const MAX_WORK = 2 ** 24
const MAX_ROUNDS = 10_000_000

function deriveKey(kdf: unknown, params: Record<string, unknown>, salt: Uint8Array, password: string): Buffer {
  const { n = 0, r = 0, p = 0, c, prf } = params as Record<string, number>
  try {
    // Node replaces zeros with its own defaults.
    if (kdf === 'scrypt' && n > 0 && r > 0 && p > 0 && n * r * p <= MAX_WORK)
      return scryptSync(password, salt, 32, { N: n, r, p, maxmem: MAX_MEMORY } as never)
    if (kdf === 'pbkdf2' && (prf as unknown) === 'hmac-sha256' && (c as number) <= MAX_ROUNDS)
      return pbkdf2Sync(password, salt, c as number, 32, 'sha256')
  } catch {}
  throw unknownKeystore()
}

function bareHex(value: unknown): string {
  return typeof value === 'string' ? value.replace(/^0x/i, '').toLowerCase() : 'not hex'
}

function unknownKeystore(): KeyFileError {
  return new KeyFileError('no_key', 'this is not a keystore of version 3, with scrypt or pbkdf2 and aes-128-ctr')
}
