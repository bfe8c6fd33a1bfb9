// The pinned keys of a gateway, as they were when they were pinned.

import { join } from 'node:path'
import { type PinnedKey, readPinnedKeys } from '@svc/verifier/pinned-keys'
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
}

export interface ReadPins extends Pins {
  file: string
  read: PinnedKey[]
}

/** Null if none are pinned. */
export async function readPins(folder: string, gateway: string): Promise<ReadPins | null> {
  const file = fileOf(folder, gateway)
  const pins = await readJson<Pins>(file)
  if (!pins) return null
  const read = readPinnedKeys(pins.keys)
  if (!read.ok)
    throw new Failure(`the pinned keys in ${file} cannot be read: ${read.problem}`, 'run `svc keys pin` again')
  return { ...pins, file, read: read.keys }
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

function fileOf(folder: string, gateway: string): string {
  return join(folder, 'keys', `${encodeURIComponent(gateway)}.json`)
}
