// Keys from a source other than the bundle, which the verifier trusts.

import type { Json } from '@svc/protocol/canonical'
import { unixSeconds } from '@svc/protocol/evidence'
import { type FollowedKeys, followKeys, type KeyChanges } from '@svc/protocol/follow-keys'
import { issuerKeyId } from '@svc/protocol/ids'
import { ed25519PublicKeyFromHex, type TrustedKey } from '@svc/protocol/keys'
import { SIGNING_KEYS_SCHEMA } from '@svc/protocol/names'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { type NoteKey, readKey } from '@svc/protocol/transparency/note'
import { isObject, type JsonObject, quoted } from './untrusted.ts'

export type KeyUse = 'evidence-envelope' | 'attestation' | 'receipt'

export type PinnedKey = TrustedKey

/** The content of a signing-key list besides its keys. */
export interface ListedChanges {
  changes: KeyChanges
  /** Recovery keys in hex. In a pinned list, they override all other keys. */
  recovery: string[]
  /** The logs of the gateway. */
  logs: NoteKey[]
}

export const NOTHING_LISTED: ListedChanges = { changes: { endorsements: [], revocations: [] }, recovery: [], logs: [] }

export type PinnedKeys = ({ ok: true; keys: PinnedKey[] } & ListedChanges) | { ok: false; problem: string }

/** Input about keys besides the bundle. */
export interface GivenKeys {
  /** Statement keys, as `readPinnedKeys` returns them. */
  pinnedKeys?: readonly PinnedKey[]
  /** Changes that came with the keys, or later from the gateway. */
  listed?: Omit<ListedChanges, 'logs'> & Partial<Pick<ListedChanges, 'logs'>>
  /** The address of the gateway of the pinned keys. Endorsements for another gateway do not count. */
  audience?: string
}

/** `ownList`: the signing-key list of a bundle. Its changes count if their signatures lead to a given key. */
export function followedKeys({ pinnedKeys = [], listed, audience }: GivenKeys, ownList: Json): FollowedKeys {
  const own = listedChanges(ownList)
  return followKeys({
    pinned: pinnedKeys,
    recovery: listed?.recovery ?? [],
    changes: {
      endorsements: [...(listed?.changes.endorsements ?? []), ...own.endorsements],
      revocations: [...(listed?.changes.revocations ?? []), ...own.revocations],
    },
    audience,
  })
}

const MAX_LIST_BYTES = 1024 * 1024

/**
 * Reads a signing-key list as gateways publish it, or public keys of 64 hex digits separated by spaces, commas or
 * lines. Key ids are refused: they have only 64 bits of a key, so another key with the same id can be made.
 */
export function readPinnedKeys(text: string): PinnedKeys {
  try {
    return { ok: true, ...(text.trimStart().startsWith('{') ? keysOfList(text) : keysOfHex(text)) }
  } catch (error) {
    return { ok: false, problem: (error as Error).message }
  }
}

type ReadKeys = { keys: PinnedKey[] } & ListedChanges

function keysOfHex(text: string): ReadKeys {
  const words = text.split(/[\s,]+/).filter((word) => word !== '')
  if (words.length === 0) throw new RangeError('there is no key')
  const keys = words.map((word) => {
    if (/^ed25519:/i.test(word))
      throw new RangeError(`${quoted(word)} is a key id, which is too short to pin: use the full key`)
    return { publicKeyHex: publicKey(word), use: null, validFrom: null, validTo: null }
  })
  return { keys, ...NOTHING_LISTED }
}

function keysOfList(text: string): ReadKeys {
  const list = parseStrictJson(text, MAX_LIST_BYTES)
  if (!isObject(list) || list.schema !== SIGNING_KEYS_SCHEMA)
    throw new RangeError(`schema is not ${SIGNING_KEYS_SCHEMA}`)
  if (!Array.isArray(list.keys) || list.keys.length === 0) throw new RangeError('there is no key in the list')
  const { recovery = null, logs = null } = list
  // A key that is silently left out could no longer revoke others.
  if (recovery !== null && !isObject(recovery)) throw new RangeError('recovery of the list is not an object')
  if (logs !== null && !Array.isArray(logs)) throw new RangeError('logs of the list is not a list')
  return {
    keys: list.keys.map(listedKey),
    changes: listedChanges(list),
    recovery: recovery === null ? [] : [publicKey(recovery.public_key_hex)],
    logs: (logs ?? []).map(listedLog),
  }
}

/** The unchecked changes in a signing-key list, whether it was given or is in a bundle. */
export function listedChanges(list: Json): KeyChanges {
  const listed = (field: string): readonly Json[] => {
    const value = isObject(list) ? list[field] : undefined
    return Array.isArray(value) ? value : []
  }
  return { endorsements: listed('endorsements'), revocations: listed('revocations') }
}

function listedKey(entry: Json): PinnedKey {
  if (!isObject(entry)) throw new RangeError('a key of the list is not an object')
  const { alg, use, status, public_key_hex, key_id } = entry
  const publicKeyHex = publicKey(public_key_hex)
  const id = issuerKeyId(publicKeyHex)
  if (key_id !== id) throw new RangeError(`the key_id of the key ${id} does not match it`)
  if (alg !== 'ed25519' || typeof use !== 'string') throw new RangeError(`alg or use of ${id} is unknown`)
  // An unknown status may mean that the key must no longer be used.
  if (status !== 'active' && status !== 'retired') throw new RangeError(`the status of ${id} is unknown`)
  return { publicKeyHex, use, validFrom: timeIn(entry, 'valid_from'), validTo: timeIn(entry, 'valid_to') }
}

function listedLog(entry: Json): NoteKey {
  const key = isObject(entry) && typeof entry.vkey === 'string' ? readLogKey(entry.vkey) : 'it has no vkey'
  if (typeof key === 'string') throw new RangeError(`a log of the list cannot be used: ${key}`)
  return key
}

/** The key of a log, or its problem. */
export function readLogKey(vkey: string): NoteKey | string {
  const key = readKey(vkey)
  return typeof key === 'string' || key.type === 'log' ? key : 'this is the key of a witness'
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
