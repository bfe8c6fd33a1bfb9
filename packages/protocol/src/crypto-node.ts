// The functions of `crypto-noble.ts` on OpenSSL: about 15 times faster for Ed25519, and 10 times for SHA-256.

import { createHash, createPrivateKey, createPublicKey, hash, sign, verify } from 'node:crypto'
import { concat, fromHex } from './bytes.ts'
import type * as noble from './crypto-noble.ts'
import { isStrictSignature } from './ed25519-strict.ts'

const PKCS8_PREFIX = fromHex('302e020100300506032b657004220420') as Uint8Array
const SPKI_PREFIX = fromHex('302a300506032b6570032100') as Uint8Array
/** The prefix in base64. Its twelve bytes end at a character boundary, so more base64 can follow. */
const PEM_PREFIX = Buffer.from(SPKI_PREFIX).toString('base64')

export const sha256Hex: typeof noble.sha256Hex = (data) => {
  refuseLoneSurrogates(data)
  return hash('sha256', data)
}

export const sha256Bytes: typeof noble.sha256Bytes = (data) => {
  // Allocating a buffer for each result would take most of the time.
  const characters = hash('sha256', data, 'binary')
  const bytes = new Uint8Array(characters.length)
  for (let i = 0; i < bytes.length; i++) bytes[i] = characters.charCodeAt(i)
  return bytes
}

/** Lone surrogates have no UTF-8 form; `hash` and `update` would replace them with U+FFFD. */
function refuseLoneSurrogates(data: string | Uint8Array): void {
  if (typeof data === 'string' && !data.isWellFormed()) throw new RangeError('text contains a lone surrogate')
}

export const sha256Stream: typeof noble.sha256Stream = () => {
  const stream = createHash('sha256')
  return {
    update(data) {
      refuseLoneSurrogates(data)
      stream.update(data)
    },
    hex: () => stream.digest('hex'),
  }
}

export const ed25519Signer: typeof noble.ed25519Signer = (seed) => {
  const key = createPrivateKey({ key: Buffer.from(concat(PKCS8_PREFIX, seed)), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return {
    publicKey: Uint8Array.from(spki.subarray(SPKI_PREFIX.length)),
    sign: (message) => Uint8Array.from(sign(null, message, key)),
  }
}

export const ed25519Verifier: typeof noble.ed25519Verifier = (publicKey) => {
  // PEM is fastest: given an object, Node throws and catches four errors to detect its form, which dominates the time.
  const base64 = Buffer.from(publicKey).toString('base64')
  const key = createPublicKey(`-----BEGIN PUBLIC KEY-----\n${PEM_PREFIX}${base64}\n-----END PUBLIC KEY-----`)
  return {
    verify: (message, signature) => isStrictSignature(signature) && verify(null, message, key, signature),
  }
}
