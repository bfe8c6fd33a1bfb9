// Signatures whose signer is recovered. Ours are 65 bytes with a low s; other forms carry the same two numbers.

import { fromHex, toHex } from '@svc/protocol/bytes'
import { digestVerifier, recoverKey } from '@svc/protocol/keys'
import { sha256Bytes } from '@svc/protocol/sha256'
import type { EcdsaCase } from '../cases.ts'

/** The order of the group, and the prime of the field (SEC 2, 2.4.1). */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const P = 2n ** 256n - 2n ** 32n - 977n
const RECOVERIES = ['00', '01', '1b', '1c']

export function ecdsaProblem({ publicKey, message, signature, form, isValid }: EcdsaCase): string | null {
  const digest = sha256Bytes(fromHex(message) as Uint8Array)
  const isSigned = digestVerifier(fromHex(publicKey) as Uint8Array)
  const isTaken = (text: string) => {
    const recovered = recoverKey(digest, text)
    const byRecovery = recovered !== null && toHex(recovered) === publicKey
    if (byRecovery !== isSigned(digest, text)) throw new Error('recovery and the check with a known key differ')
    return byRecovery
  }
  if ([signature, `0x${signature}`].some(isTaken)) return `was accepted unchanged, in ${form}`
  const numbers = form === 'DER' ? readDer(signature) : readP1363(signature)
  const given = numbers === null ? signature : numbers.map((number) => number.toString(16).padStart(64, '0')).join('')
  const taken = RECOVERIES.filter((recovery) => isTaken(given + recovery))
  if (taken.length > 0 && isValid === false) return `was accepted with the recovery ${taken}`
  if (numbers === null || isValid !== true) return null
  const [r = 0n, s = 0n] = numbers
  // A high s is rejected by rule (ENV-03), and an r whose point is beyond the order has no one-bit recovery.
  const expected = s > N / 2n ? 0 : r < P - N ? taken.length : 2
  return taken.length === expected ? null : `was accepted with ${taken.length} recoveries, not ${expected}`
}

function readP1363(signature: string): bigint[] | null {
  if (signature.length !== 128) return null
  return [signature.slice(0, 64), signature.slice(64)].map((digits) => BigInt(`0x${digits}`))
}

/** In the one form of DER; null for any other, and for numbers that are negative or too long. */
function readDer(signature: string): bigint[] | null {
  const first = 2 * Number.parseInt(signature.slice(6, 8), 16)
  const parts = [signature.slice(8, 8 + first), signature.slice(12 + first)]
  if (parts.includes('')) return null
  const numbers = parts.map((digits) => BigInt(`0x${digits}`))
  return numbers.every((number) => number < 2n ** 256n) && derOf(numbers) === signature ? numbers : null
}

function derOf(numbers: readonly bigint[]): string {
  const body = numbers.map(integer).join('')
  return `30${byte(body.length / 2)}${body}`
}

function integer(number: bigint): string {
  const digits = number.toString(16)
  const even = digits.length % 2 === 1 ? `0${digits}` : digits
  const signed = Number.parseInt(even.slice(0, 2), 16) >= 128 ? `00${even}` : even
  return `02${byte(signed.length / 2)}${signed}`
}

function byte(value: number): string {
  return value.toString(16).padStart(2, '0')
}
