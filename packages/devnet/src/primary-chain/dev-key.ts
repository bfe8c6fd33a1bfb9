import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto'
import { type Address, getAddressDecoder } from '@solana/kit'

const PKCS8_ED25519_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** A key everybody knows: its seed is the SHA-256 of its label. Never fund one on a public chain. */
export interface DevKey {
  readonly address: Address
  /** The 32-byte Ed25519 seed, as `createKeyPairSignerFromPrivateKeyBytes` takes it. */
  readonly privateKeyBytes: Uint8Array
  sign(message: Uint8Array): Uint8Array
}

export function devKey(label: string): DevKey {
  const privateKeyBytes = new Uint8Array(hash('sha256', label, 'buffer'))
  const key = ed25519Key(privateKeyBytes)
  return {
    address: addressOf(key),
    privateKeyBytes,
    sign: (message) => new Uint8Array(sign(null, message, key)),
  }
}

function ed25519Key(seed: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_ED25519_PREFIX, seed]), format: 'der', type: 'pkcs8' })
}

function addressOf(key: KeyObject): Address {
  const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return getAddressDecoder().decode(spki.subarray(-32))
}
