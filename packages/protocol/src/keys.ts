// Public keys and signatures, with the same rules for gateway, client and verifier (ADD-04).

import { ed25519 } from '@noble/curves/ed25519.js'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { keccak_256 } from '@noble/hashes/sha3.js'
import { type Ed25519Verifier, ed25519Verifier } from '#crypto'
import { asciiBytes, concat, fromBase58, fromHex, toHex } from './bytes.ts'
import { isStrictEncoding } from './ed25519-strict.ts'

export { type Ed25519Signer, type Ed25519Verifier, ed25519Signer } from '#crypto'

export type SigAlg = 'ed25519' | 'secp256k1'

/** Derives `sig_alg` from the form of an identity: `0x…` is an EVM address (ENV-11). */
export function sigAlgOf(identity: string): SigAlg {
  return identity.startsWith('0x') ? 'secp256k1' : 'ed25519'
}

/**
 * Prepares a key for verifying signatures. Null for bytes that are not a point, are not its canonical encoding, or have
 * small order: common libraries accept such a key, and anyone can make signatures for it.
 */
export function ed25519PublicKey(bytes: Uint8Array): Ed25519Verifier | null {
  return isStrictEd25519Key(bytes) ? ed25519Verifier(bytes) : null
}

export function ed25519PublicKeyFromHex(text: string): Ed25519Verifier | null {
  const bytes = fromHex(text, 32)
  return bytes && ed25519PublicKey(bytes)
}

export function ed25519PublicKeyFromBase58(text: string): Ed25519Verifier | null {
  const bytes = fromBase58(text, 32)
  return bytes && ed25519PublicKey(bytes)
}

/**
 * The same as `ed25519PublicKey` and `verify`, for a key that verifies one signature. Verification itself fails if the
 * key is not a point; computing the point first would take longer than the rest.
 */
export function isEd25519SignedBy(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (!isStrictEncoding(publicKey)) return false
  try {
    return ed25519Verifier(publicKey).verify(message, signature)
  } catch {
    return false // In browsers: the bytes are not a point.
  }
}

function isStrictEd25519Key(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false
  try {
    return !ed25519.Point.fromBytes(bytes).isSmallOrder()
  } catch {
    return false
  }
}

/** Whether 32 bytes decode to a curve point by the chain's lenient rules. Program-derived addresses do not. */
export function isOnCurve(bytes: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(bytes, true)
    return true
  } catch {
    return false
  }
}

/** The EIP-191 personal-sign digest of the exact bytes. */
export function personalSignDigest(message: Uint8Array): Uint8Array {
  return keccak_256(concat(asciiBytes(`\x19Ethereum Signed Message:\n${message.length}`), message))
}

/** Signs as wallets do: `0x`, r, s, v with v 27 or 28. */
export function personalSign(message: Uint8Array, privateKey: Uint8Array): string {
  const signature = secp256k1.sign(personalSignDigest(message), privateKey, { prehash: false, format: 'recovered' })
  const recovery = signature[0] as number
  return `0x${toHex(signature.subarray(1))}${(27 + recovery).toString(16)}`
}

/** The lowercase address that signed, or null. */
export function recoverPersonalSigner(message: Uint8Array, signature: string): string | null {
  const publicKey = recoverPersonalKey(message, signature)
  return publicKey && evmAddress(publicKey)
}

/** The uncompressed public key that signed, or null. */
export function recoverPersonalKey(message: Uint8Array, signature: string): Uint8Array | null {
  return recoverKey(personalSignDigest(message), signature)
}

/** The uncompressed public key that signed a digest of 32 bytes, or null. */
export function recoverKey(digest: Uint8Array, signature: string): Uint8Array | null {
  const read = readPersonalSignature(signature)
  if (!read) return null
  try {
    const { numbers, recovery } = read
    return numbers.addRecoveryBit(recovery).recoverPublicKey(digest).toBytes(false)
  } catch {
    return null
  }
}

export type PersonalVerifier = (message: Uint8Array, signature: string) => boolean

/** Prepares a key that was recovered from an earlier signature. */
export function personalVerifier(publicKey: Uint8Array): PersonalVerifier {
  const isSigned = digestVerifier(publicKey)
  return (message, signature) => isSigned(personalSignDigest(message), signature)
}

/**
 * Preparing a key takes as long as ten recoveries. Each signature then takes less than half as long as a recovery. It
 * accepts exactly the signatures that recover to this key: the point that a signature names by x (r) and the parity of
 * y (v) must equal the point that is computed with the key.
 */
export function digestVerifier(publicKey: Uint8Array): (digest: Uint8Array, signature: string) => boolean {
  const { Point } = secp256k1
  const { Fn } = Point
  const key = Point.fromBytes(publicKey).precompute(TABLE_BITS, false)
  return (digest, signature) => {
    const read = readPersonalSignature(signature)
    if (!read) return false
    const { r, s } = read.numbers
    const number = Fn.create(BigInt(`0x${toHex(digest)}`))
    const inverse = Fn.inv(s)
    const point = Point.BASE.multiplyUnsafe(Fn.mul(number, inverse)).add(key.multiplyUnsafe(Fn.mul(r, inverse)))
    if (point.is0()) return false
    const { x, y } = point.toAffine()
    return x === r && y % 2n === BigInt(read.recovery)
  }
}

/** The window of the table of a key's multiples, which has 520 points and takes about 100 KiB. */
const TABLE_BITS = 4

/** `0x` is optional, v is 27/28 or 0/1, and s must be low (ENV-03). */
function readPersonalSignature(signature: string) {
  const bytes = fromHex(signature.replace(/^0x/, '').toLowerCase(), 65)
  const v = bytes?.[64]
  if (!bytes || v === undefined) return null
  const recovery = v >= 27 ? v - 27 : v
  if (recovery > 1) return null
  try {
    const numbers = secp256k1.Signature.fromBytes(bytes.subarray(0, 64), 'compact')
    return numbers.hasHighS() ? null : { numbers, recovery }
  } catch {
    return null
  }
}

/** The lowercase address of an uncompressed public key. */
export function evmAddress(uncompressedKey: Uint8Array): string {
  return `0x${toHex(keccak_256(uncompressedKey.subarray(1)).subarray(12))}`
}

export function evmAddressOf(privateKey: Uint8Array): string {
  return evmAddress(secp256k1.getPublicKey(privateKey, false))
}

/** Replicas whose clocks differ, or that are replaced one after the other, sign with two keys for some time. */
export const HANDOVER_SECONDS = 600

/** When a key of a signing-key list is valid, in Unix seconds. Null means no limit. */
export interface KeyPeriod {
  validFrom: number | null
  validTo: number | null
}

/** A trusted key. */
export interface TrustedKey extends KeyPeriod {
  publicKeyHex: string
  /** The trusted use, as in signing-key lists. Null for every use. */
  use: string | null
}

/** Whether this key is trusted for the use at the time. Without a time, only keys without a period are. */
export function isTrustedKey(
  publicKeyHex: string,
  keys: readonly TrustedKey[],
  signed: { use: string; at: number | null },
): boolean {
  const usable = keys.filter(({ use }) => use === null || use === signed.use)
  return usable.some((key) => {
    if (key.publicKeyHex !== publicKeyHex) return false
    if (signed.at === null) return key.validFrom === null && key.validTo === null
    return isKeyOfTime(key, usable, signed.at)
  })
}

/**
 * Whether a key of a list may have signed at a time (ADD-07). Signatures from before the first key also belong to that
 * key, which existed before the gateway published a list.
 */
export function isKeyOfTime(key: KeyPeriod, all: readonly KeyPeriod[], unixSeconds: number): boolean {
  const first = Math.min(...all.map(({ validFrom }) => validFrom ?? Number.NEGATIVE_INFINITY))
  const latestBegin = Math.max(unixSeconds + HANDOVER_SECONDS, first)
  return (key.validFrom ?? latestBegin) <= latestBegin && (key.validTo ?? unixSeconds) >= unixSeconds - HANDOVER_SECONDS
}
