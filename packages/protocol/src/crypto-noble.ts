// Hashing and Ed25519 for browsers. `crypto-node.ts` has the same functions for servers.

import { ed25519 } from '@noble/curves/ed25519.js'
import { sha256 as nobleSha256, sha512 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import { concat, equalBytes, utf8 } from './bytes.ts'
import { isStrictSignature } from './ed25519-strict.ts'

export interface Sha256Stream {
  update(data: string | Uint8Array): void
  hex(): string
}

/** The SHA-256, in lowercase hex, of bytes or of the UTF-8 of well-formed text. */
export function sha256Hex(data: string | Uint8Array): string {
  return bytesToHex(nobleSha256(typeof data === 'string' ? utf8(data) : data))
}

export function sha256Bytes(data: Uint8Array): Uint8Array {
  return nobleSha256(data)
}

export function sha256Stream(): Sha256Stream {
  const hash = nobleSha256.create()
  return {
    update: (data) => void hash.update(typeof data === 'string' ? utf8(data) : data),
    hex: () => bytesToHex(hash.digest()),
  }
}

export interface Ed25519Signer {
  readonly publicKey: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

export function ed25519Signer(seed: Uint8Array): Ed25519Signer {
  return { publicKey: ed25519.getPublicKey(seed), sign: (message) => ed25519.sign(message, seed) }
}

/** A public key that verifies signatures. `keys.ts` creates one only from a key that satisfies its rules. */
export interface Ed25519Verifier {
  verify(message: Uint8Array, signature: Uint8Array): boolean
}

/**
 * Verifies without the cofactor, as OpenSSL does: R is compared as bytes. noble's own `verify` multiplies by the
 * cofactor, so it accepts crafted signatures that a server would refuse. Both sides must agree.
 */
export function ed25519Verifier(publicKey: Uint8Array): Ed25519Verifier {
  const { Point } = ed25519
  const point = Point.fromBytes(publicKey)
  function verify(message: Uint8Array, signature: Uint8Array): boolean {
    if (!isStrictSignature(signature)) return false
    const r = signature.subarray(0, 32)
    const s = littleEndian(signature.subarray(32))
    const k = littleEndian(sha512(concat(r, publicKey, message))) % Point.Fn.ORDER
    const expected = Point.BASE.multiplyUnsafe(s).subtract(point.multiplyUnsafe(k))
    return equalBytes(expected.toBytes(), r)
  }
  return { verify }
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(Uint8Array.from(bytes).reverse())}`)
}
