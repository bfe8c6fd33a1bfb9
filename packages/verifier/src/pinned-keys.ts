// Keys that a verifier got from elsewhere than the bundle.

import type { Json } from '@svc/protocol/canonical'
import { unixSeconds } from '@svc/protocol/evidence'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, type TrustedKey } from '@svc/protocol/keys'
import { SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { isObject, type JsonObject, quoted } from './untrusted.ts'

export type KeyUse = 'evidence-envelope' | 'attestation' | 'receipt'

export type PinnedKey = TrustedKey

export type PinnedKeys = { ok: true; keys: PinnedKey[] } | { ok: false; problem: string }

const MAX_LIST_BYTES = 1024 * 1024

/**
 * Reads a signing-key list as gateways publish it, or public keys of 64 hex digits separated by spaces, commas or lines.
 * Key ids are refused: they hold 64 bits of a key, so another key with the same id can be made.
 */
export function readPinnedKeys(text: string): PinnedKeys {
  try {
    return { ok: true, keys: text.trimStart().startsWith('{') ? keysOfList(text) : keysOfHex(text) }
  } catch (error) {
    return { ok: false, problem: (error as Error).message }
  }
}

function keysOfHex(text: string): PinnedKey[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0) throw new RangeError('there is no key')
  return words.map((word) => {
    if (/^ed25519:/i.test(word)) throw new RangeError(`${quoted(word)} is a key id, too short to pin: give the key`)
    return { publicKeyHex: publicKey(word), use: null, validFrom: null, validTo: null }
  })
}

function keysOfList(text: string): PinnedKey[] {
  const list = parseStrictJson(text, MAX_LIST_BYTES)
  if (!isObject(list) || list.schema !== SIGNING_KEYS_SCHEMA)
    throw new RangeError(`schema is not ${SIGNING_KEYS_SCHEMA}`)
  if (!Array.isArray(list.keys) || list.keys.length === 0) throw new RangeError('there is no key in the list')
  return list.keys.map(listedKey)
}

function listedKey(entry: Json): PinnedKey {
  if (!isObject(entry)) throw new RangeError('a key of the list is not an object')
  const { alg, use, status, public_key_hex, key_id } = entry
  const publicKeyHex = publicKey(public_key_hex)
  const id = issuerKeyId(publicKeyHex)
  if (key_id !== id) throw new RangeError(`the key ${id} has another key_id`)
  if (alg !== 'ed25519' || typeof use !== 'string') throw new RangeError(`alg or use of ${id} is not known`)
  // An unknown status may mean that the key must no longer be used.
  if (status !== 'active' && status !== 'retired') throw new RangeError(`the status of ${id} is not known`)
  return { publicKeyHex, use, validFrom: timeIn(entry, 'valid_from'), validTo: timeIn(entry, 'valid_to') }
}

function publicKey(hex: Json | undefined): string {
  if (typeof hex === 'string' && ed25519PublicKeyFromHex(hex)) return hex
  throw new RangeError(
    `${typeof hex === 'string' ? quoted(hex) : 'a value'} is not an Ed25519 public key of 64 lowercase hex digits`,
  )
}

function timeIn(entry: JsonObject, field: string): number | null {
  const value = entry[field] ?? null
  if (value === null) return null
  const seconds = unixSeconds(value)
  if (seconds === null) throw new RangeError(`${field} is not a time`)
  return seconds
}
