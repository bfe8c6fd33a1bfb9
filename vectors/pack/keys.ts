// Keys for tests, made from their labels as in protocol.json.

import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { base58, type JsonObject, sha256 } from './formats.ts'

export interface PackKey {
  hex: string
  base58: string
  id: string
  sign(message: Uint8Array): string
}

export function keyOf(label: string): PackKey {
  const pkcs8 = Buffer.from(`302e020100300506032b657004220420${sha256(`svc-test-key/${label}`)}`, 'hex')
  const privateKey: KeyObject = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(12)
  const hex = publicKey.toString('hex')
  return {
    hex,
    base58: base58(publicKey),
    id: `ed25519:${hex.slice(0, 16)}`,
    sign: (message) => sign(null, message, privateKey).toString('hex'),
  }
}

export const STATEMENT_KEY = keyOf('statement')
export const RETIRED_KEY = keyOf('statement-retired')
export const STRANGER_KEY = keyOf('stranger')
export const PUBLICATION_KEY = keyOf('publication')
export const RECOVERY_KEY = keyOf('recovery')
export const OTHER_PUBLICATION_KEY = keyOf('publication-other')

export function signingKeys(...entries: JsonObject[]): JsonObject {
  return { schema: 'svc/signing-keys/v1', keys: entries, note: 'Pin these keys out of band.' }
}

export function listedKey(key: PackKey, use: string, period: JsonObject = {}): JsonObject {
  const status = 'valid_to' in period ? 'retired' : 'active'
  return { key_id: key.id, alg: 'ed25519', public_key_hex: key.hex, use, status, ...period }
}

const USES = ['receipt', 'attestation', 'evidence-envelope']

export const OWN_KEYS = signingKeys(...USES.map((use) => listedKey(STATEMENT_KEY, use)))
