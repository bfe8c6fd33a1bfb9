// The pinned keys of a gateway.

import { join } from 'node:path'
import { type FollowedBefore, followKeys } from '@svc/protocol/follow-keys'
import type { Endorsement, Revocation } from '@svc/protocol/key-changes'
import { formatKey, type NoteKey } from '@svc/protocol/transparency/note'
import { type ListedChanges, type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
import { Failure } from '../errors.ts'
import { readJson, writeJson } from './folder.ts'

export interface Pins {
  gateway: string
  pinned_at: string
  /** Text for `readPinnedKeys`: the gateway's list, or keys in hex that the user gave. */
  keys: string
  /** The key that publishes on chain, in base58; null if unknown. */
  anchor_signer: string | null
  domain_tag: string | null
  /** Keys that pinned keys have endorsed since then, with the endorsements. */
  followed?: Followed[]
  /** The valid revocations that the gateway has shown. Version 1.1.0 stored the unchecked list. */
  revocations?: Revocation[]
}

interface Followed {
  followed_at: string
  keys: PinnedKey[]
  endorsements: Endorsement[]
}

export interface ReadPins extends Pins {
  file: string
  /** The pinned keys, including followed ones. */
  read: PinnedKey[]
  pinned: PinnedKey[]
  before: FollowedBefore[]
  /** The other contents of the pinned list. */
  listed: ListedChanges
}

/** Null if no keys are pinned. */
export async function readPins(folder: string, gateway: string): Promise<ReadPins | null> {
  const file = fileOf(folder, gateway)
  const pins = await readJson<Pins>(file)
  if (!pins) return null
  const read = readPinnedKeys(pins.keys)
  if (!read.ok)
    throw new Failure(`the pinned keys in ${file} cannot be read: ${read.problem}`, 'run `svc keys pin` again')
  const { keys, changes, recovery, logs } = read
  const before = (pins.followed ?? []).map(({ followed_at, ...step }) => ({
    at: Date.parse(followed_at) / 1000,
    ...step,
  }))
  const known = { ...changes, revocations: [...changes.revocations, ...(pins.revocations ?? [])] }
  const followed = followKeys({ pinned: keys, before, recovery, changes: known, audience: gateway })
  return { ...pins, file, read: followed.keys, pinned: keys, before, listed: { changes: known, recovery, logs } }
}

export async function savePins(folder: string, pins: Pins): Promise<string> {
  const file = fileOf(folder, pins.gateway)
  await writeJson(file, pins)
  return file
}

/** Each key once. */
export function keyHexes(keys: readonly PinnedKey[]): string[] {
  return [...new Set(keys.map(({ publicKeyHex }) => publicKeyHex))]
}

/** Log keys as name+hash+base64. */
export function logTexts(logs: readonly NoteKey[]): string[] {
  return logs.map(formatKey)
}

function fileOf(folder: string, gateway: string): string {
  return join(folder, 'keys', `${encodeURIComponent(gateway)}.json`)
}
