// The ciphers of the age format. In Node they are native, which is several times faster; elsewhere they are JavaScript.

import { chacha20poly1305 } from '@noble/ciphers/chacha.js'
import { scryptAsync } from '@noble/hashes/scrypt.js'

export const TAG_BYTES = 16
const CIPHER = 'chacha20-poly1305'
const OPTIONS = { authTagLength: TAG_BYTES }
/** Two GiB: slightly more than the largest accepted work factor needs. */
const MAX_MEMORY = 2 ** 31

const node = nodeCrypto()

/** Null in browsers, and in runtimes without this cipher. */
function nodeCrypto(): typeof import('node:crypto') | null {
  const crypto = globalThis.process?.getBuiltinModule?.('node:crypto')
  return crypto?.getCiphers?.().includes(CIPHER) ? crypto : null
}

/** Encrypts. The result ends with the tag. */
export function seal(key: Uint8Array, nonce: Uint8Array, plaintext: Uint8Array): Uint8Array {
  if (!node) return chacha20poly1305(key, nonce).encrypt(plaintext)
  const cipher = node.createCipheriv(CIPHER, key, nonce, OPTIONS)
  const sealed = new Uint8Array(plaintext.length + TAG_BYTES)
  sealed.set(cipher.update(plaintext))
  cipher.final()
  sealed.set(cipher.getAuthTag(), plaintext.length)
  return sealed
}

/** Decrypts. Null unless the bytes were sealed with this key and nonce. */
export function unseal(key: Uint8Array, nonce: Uint8Array, sealed: Uint8Array): Uint8Array | null {
  const length = sealed.length - TAG_BYTES
  if (length < 0) return null
  try {
    if (!node) return chacha20poly1305(key, nonce).decrypt(sealed)
    const cipher = node.createDecipheriv(CIPHER, key, nonce, OPTIONS).setAuthTag(sealed.subarray(length))
    const plaintext = cipher.update(sealed.subarray(0, length))
    cipher.final()
    return new Uint8Array(plaintext.buffer, plaintext.byteOffset, plaintext.length)
  } catch {
    return null
  }
}

/** Derives 32 bytes from a passphrase, deliberately slowly. */
export function scrypt(passphrase: Uint8Array, salt: Uint8Array, N: number): Promise<Uint8Array> {
  if (!node) return scryptAsync(passphrase, salt, { N, r: 8, p: 1, dkLen: 32, maxmem: MAX_MEMORY })
  const { scrypt: derive } = node
  return new Promise((resolve, reject) =>
    derive(passphrase, salt, 32, { N, r: 8, p: 1, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(new Uint8Array(key)),
    ),
  )
}
